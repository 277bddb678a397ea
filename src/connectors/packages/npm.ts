/** Runs npm, outside of any confinement and by default without the scripts of packages. */

import { execFile } from "node:child_process";

import type { ChildKeeper } from "../../domain/index.ts";

/** An install with many packages over a slow line. */
const INSTALL_MS = 10 * 60_000;
const MOST_OUTPUT_BYTES = 4 * 1024 * 1024;
const INHERITED =
  "PATH HOME LANG TMPDIR USER HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy NODE_EXTRA_CA_CERTS".split(
    " ",
  );
/** Where npm fetches from. Other settings in the environment belong to a run of npm around this one. */
const CONFIGURED =
  /^npm_config_(?:registry|userconfig|globalconfig|cache|proxy|https_proxy|noproxy|cafile|strict_ssl)$/i;
const ANY = /^npm_config_/i;
/**
 * A package that comes from git has no integrity, and npm would prepare it: settings in its repository name a program that
 * npm runs, also without scripts. An older npm ignores the first of the last two; the second is not a program.
 */
const FLAGS =
  "--no-audit --no-fund --no-bin-links --save-exact --omit=dev --package-lock --loglevel=error --allow-git=none --git=/dev/null".split(
    " ",
  );

type Environment = Readonly<Record<string, string | undefined>>;

export interface NpmRun {
  /** Has a `package.json`. */
  readonly folder: string;
  /** `undefined` installs exactly what `package-lock.json` lists, or fails. */
  readonly spec: string | undefined;
  /** Runs the install scripts of packages with the rights of the gateway. */
  readonly scripts: boolean;
  /** The gateway's. */
  readonly environment: Environment;
  /** The variables of the server; those that configure npm apply. */
  readonly env: Environment;
  readonly keeper: ChildKeeper;
}

/** Rejects with the code of the failure, such as E404, EINTEGRITY or ENOENT if npm was not found. */
export async function runNpm({ folder, spec, scripts, environment, env, keeper }: NpmRun): Promise<void> {
  const task = spec === undefined ? ["ci"] : ["install", "--", spec];
  const [verb = "", ...rest] = task;
  const args = [verb, ...FLAGS, scripts ? "--ignore-scripts=false" : "--ignore-scripts", ...rest];
  const options = {
    cwd: folder,
    env: { ...pick(environment, (name) => INHERITED.includes(name) || CONFIGURED.test(name)), ...pick(env, isNpm) },
    timeout: INSTALL_MS,
    maxBuffer: MOST_OUTPUT_BYTES,
    detached: true, // a group of its own, which the keeper ends
  };
  await new Promise<void>((resolve, reject) => {
    const child = execFile("npm", args, options, (error, _stdout, stderr) => {
      if (child.pid !== undefined) keeper.release(child.pid);
      if (!error) return resolve();
      const [, code] = /^npm (?:error|ERR!) code (\w+)$/m.exec(stderr) ?? [];
      reject(new NpmError(code ?? (error.killed === true ? "ETIMEDOUT" : String(error.code)), { cause: error }));
    });
    if (child.pid !== undefined) keeper.keep(child.pid);
  });
}

/** The message is npm's code for what went wrong. */
export class NpmError extends Error {}

const isNpm = (name: string): boolean => ANY.test(name);

function pick(all: Environment, isWanted: (name: string) => boolean): Environment {
  return Object.fromEntries(Object.entries(all).filter(([name]) => isWanted(name)));
}
