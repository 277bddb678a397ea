/**
 * Consent to configurations, once per real path and content: to those that were found in a project, and to those that a
 * server can write.
 */

import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { GloveboxError } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { ConfigText } from "./load-settings.ts";
import { listSelfAndAbove } from "./named-paths.ts";
import type { FoundConfig } from "./read/find-config.ts";
import { refuseFile, toReason } from "./read/read-text-file.ts";

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

type Subject = Pick<ConfigText, "realPath" | "digest">;
/** Returns whether a configuration may take effect, or throws. */
export type ConfigAdmission = (config: ConfigText) => Promise<boolean>;

/** Keeps one small file for each consent in the user's state folder. Creates nothing before the first one is given. */
export function createConsents(stateFolder: string) {
  const toPath = (folder: string, content: JsonObject): string =>
    join(stateFolder, folder, `${digestOf(content).replace("sha256:", "")}.json`);
  const toConsent = ({ realPath, digest }: Subject): string => toPath("trusted", { realPath, digest });
  /** A mark remains when the server is removed: the change that removes it may be the server's own. */
  const toMark = (folder: string): string => toPath("reached", { folder });
  const isGiven = (config: Subject): boolean => existsSync(toConsent(config));
  const isReached = (path: string): boolean => listSelfAndAbove(path).some((one) => existsSync(toMark(one)));
  const keep = (path: string, content: JsonObject): void => writePrivate(stateFolder, path, content);
  const give = ({ realPath, digest }: Subject): void =>
    keep(toConsent({ realPath, digest }), { path: realPath, digest });
  const isMissing = (config: ConfigText, from: FoundConfig["from"]): boolean =>
    !isGiven(config) && (from === "project" || isReached(config.realPath));
  const toUntrusted = (config: ConfigText, from: FoundConfig["from"], what = "is not used"): GloveboxError => {
    const { path, realPath } = config;
    const reason = from === "project" ? "was found in a project" : "can be written by a server";
    const other = isReached(realPath) ? "" : `, or start with --config ${path}`;
    return new GloveboxError("CONFIG_UNTRUSTED", `${path} ${reason}, is not trusted, and ${what}`, {
      hint: `Read it, then run \`glovebox trust ${path}\` once${other}`,
    });
  };
  return {
    isGiven,
    give,
    /**
     * Call before servers start. From now on a configuration in these folders needs consent after each change.
     * `config` is the one that names them: it has its consent, also if that was given by naming it.
     */
    markReached(folders: readonly string[], config: Subject | undefined): void {
      for (const folder of folders.filter((each) => !existsSync(toMark(each)))) keep(toMark(folder), { path: folder });
      if (config && isReached(config.realPath) && !isGiven(config)) give(config);
    },
    /** For commands that start something: throws CONFIG_UNTRUSTED unless consent was given, or `confirm` gives it. */
    require(from: FoundConfig["from"], confirm?: ConfigAdmission): ConfigAdmission {
      return async (config) => {
        if (!isMissing(config, from)) return true;
        if (!confirm || !(await confirm(config))) throw toUntrusted(config, from);
        give(config);
        return true;
      };
    },
    /** For commands that start nothing: they need no consent, but code runs only with it. */
    withholdCode(from: FoundConfig["from"], warn: (warning: GloveboxError) => void): ConfigAdmission {
      return async (config) => {
        if (!config.isCode || !isMissing(config, from)) return true;
        warn(toUntrusted(config, from, "was not run: default settings apply"));
        return false;
      };
    },
  };
}

/** Writes a file in a folder of `stateFolder`. Both folders become private. */
function writePrivate(stateFolder: string, path: string, content: JsonObject): void {
  const folder = dirname(path);
  const draft = `${path}.${process.pid}`;
  try {
    for (const each of [stateFolder, folder]) {
      mkdirSync(each, { recursive: true, mode: PRIVATE_FOLDER });
      chmodSync(each, PRIVATE_FOLDER);
    }
    writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: PRIVATE_FILE });
    renameSync(draft, path);
  } catch (cause) {
    const hint = "Check the permissions of this folder, or set XDG_STATE_HOME to one that you can write to";
    throw refuseFile(folder, `the consent cannot be stored (${toReason(cause)})`, { hint, cause });
  }
}
