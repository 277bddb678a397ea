/** Consent to configurations that were found in a project: once per real path and content. */

import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { GloveboxError } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { ConfigText } from "./load-settings.ts";
import { refuseFile, toReason } from "./read/read-text-file.ts";

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

type Subject = Pick<ConfigText, "realPath" | "digest">;
/** Returns whether a configuration may take effect, or throws. */
export type ConfigAdmission = (config: ConfigText) => Promise<boolean>;

/** Keeps one small file for each consent in the user's state folder. Creates nothing before the first one is given. */
export function createConsents(stateFolder: string) {
  const folder = join(stateFolder, "trusted");
  const toPath = ({ realPath, digest }: Subject): string =>
    join(folder, `${digestOf({ realPath, digest }).replace("sha256:", "")}.json`);
  const isGiven = (config: Subject): boolean => existsSync(toPath(config));
  const give = (config: Subject): void => {
    const { realPath, digest } = config;
    const path = toPath(config);
    const draft = `${path}.${process.pid}`;
    try {
      for (const each of [stateFolder, folder]) {
        mkdirSync(each, { recursive: true, mode: PRIVATE_FOLDER });
        chmodSync(each, PRIVATE_FOLDER);
      }
      writeFileSync(draft, `${JSON.stringify({ path: realPath, digest })}\n`, { mode: PRIVATE_FILE });
      renameSync(draft, path);
    } catch (cause) {
      const hint = "Check the permissions of this folder, or start with --config";
      throw refuseFile(folder, `the consent cannot be stored (${toReason(cause)})`, { hint, cause });
    }
  };
  return {
    isGiven,
    give,
    /** For commands that start something: throws CONFIG_UNTRUSTED unless consent was given, or `confirm` gives it. */
    require(confirm?: ConfigAdmission): ConfigAdmission {
      return async (config) => {
        if (isGiven(config)) return true;
        if (!confirm || !(await confirm(config))) throw toUntrusted(config);
        give(config);
        return true;
      };
    },
    /** For commands that start nothing: they need no consent, but code runs only with it. */
    withholdCode(warn: (warning: GloveboxError) => void): ConfigAdmission {
      return async (config) => {
        if (!config.isCode || isGiven(config)) return true;
        warn(toUntrusted(config, "was not run: default settings apply"));
        return false;
      };
    },
  };
}

function toUntrusted({ path }: ConfigText, what = "is not used"): GloveboxError {
  return new GloveboxError("CONFIG_UNTRUSTED", `${path} was found in a project, is not trusted, and ${what}`, {
    hint: `Read it, then run \`glovebox trust ${path}\` once, or start with --config ${path}`,
  });
}
