/** Finds, loads and trusts the configuration of one user and working directory. */

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { defined } from "../domain/index.ts";
import type { ConnectorId, GloveboxError, JsonObject, ServerSettings } from "../domain/index.ts";
import { createConsents } from "./consents.ts";
import type { ConfigAdmission } from "./consents.ts";
import type { EnvironmentVariables } from "./expand-references.ts";
import { loadSettings, readConfig } from "./load-settings.ts";
import type { ConfigText } from "./load-settings.ts";
import { listReachedFolders } from "./named-paths.ts";
import { parseSettings } from "./parse-settings.ts";
import { findConfig, getConfigToTrust, toUserFolder } from "./read/find-config.ts";
import type { ConfigSearch, FoundConfig } from "./read/find-config.ts";
import type { Settings } from "./settings.ts";
import { builtinSettings } from "./to-settings.ts";

interface ConfigsOptions extends Pick<ConfigSearch, "cwd" | "home" | "uid"> {
  /** `XDG_CONFIG_HOME` and `XDG_STATE_HOME`; they do not count for the home folder of another user. */
  readonly configHome?: string | undefined;
  readonly stateHome?: string | undefined;
  readonly environment: EnvironmentVariables;
  /** The upstreams without a configuration. */
  readonly findUpstreams: (cwd: string) => ReadonlyMap<ConnectorId, ServerSettings>;
  readonly warn: (warning: GloveboxError) => void;
}

/** In every function, `explicit` is a path that the user or the program names; without it the configuration is searched. */
export function createConfigs({ cwd, home, uid, environment, findUpstreams, warn, ...homes }: ConfigsOptions) {
  const userConfigFolder = toUserFolder(homes.configHome, home, ".config");
  const stateFolder = toUserFolder(homes.stateHome, home, ".local/state");
  const state = { folder: stateFolder };
  const consents = createConsents(stateFolder);
  const toSearch = (explicit: string | undefined): ConfigSearch => ({ cwd, home, uid, userConfigFolder, explicit });
  async function findSettings(
    explicit: string | undefined,
    createAdmission: (from: FoundConfig["from"]) => ConfigAdmission,
    onInvalidPolicy?: (error: GloveboxError) => void,
  ): Promise<Settings> {
    const found = await findConfig(toSearch(explicit));
    if (!found) return builtinSettings(findUpstreams(cwd), cwd, state);
    const options = { admit: createAdmission(found.from), stateFolder, ...defined({ onInvalidPolicy }) };
    return loadSettings(found.path, environment, options);
  }
  const readSettings = (explicit: string | undefined) =>
    findSettings(explicit, (from) => consents.withholdCode(from, warn));
  return {
    /** Where this user has files. */
    user: { home, configHome: homes.configHome, configFolder: userConfigFolder, stateFolder },
    /** The settings of a file that may not exist yet: those of an empty configuration at its place. */
    readPlanned: (path: string) =>
      existsSync(path) ? readSettings(path) : parsePlanned(path, stateFolder, environment),
    /** Throws CONFIG_INVALID for a server that would make a configuration invalid. */
    checkServer: (name: string, entry: JsonObject): void =>
      void parseSettings({ mcpServers: { [name]: entry } }, { folder: cwd, state }, environment),
    /**
     * For what starts something. A configuration that is found in a project, or that a server can write, needs consent,
     * which `confirm` can give.
     */
    async loadSettings(explicit: string | undefined, confirm?: ConfigAdmission): Promise<Settings> {
      let admitted: ConfigText | undefined;
      const settings = await findSettings(explicit, (from) => async (config) => {
        admitted = config;
        return consents.require(from, confirm)(config);
      });
      consents.markReached(listReachedFolders(settings, environment), admitted);
      return settings;
    },
    /** For what starts nothing: needs no consent, and runs no code without it. */
    readSettings,
    /** The same for what decides nothing by rules: an invalid `policy` section is left out, with a warning. */
    readWithoutPolicy: (explicit: string | undefined) =>
      findSettings(explicit, (from) => consents.withholdCode(from, warn), warn),
    /** For a program that passes its configuration as an object. */
    parseObject(config: unknown): Settings {
      const settings = parseSettings(config, { folder: cwd, state }, environment);
      consents.markReached(listReachedFolders(settings, environment), undefined);
      return settings;
    },
    /** Shows the configuration and records consent to it. `explicit` is a file, or a folder to search from. */
    async giveConsent(explicit: string | undefined, show: (config: ConfigText) => void): Promise<ConfigText> {
      const config = await readConfig(await getConfigToTrust(toSearch(explicit)));
      show(config);
      consents.give(config);
      return config;
    },
  };
}

async function parsePlanned(path: string, folder: string, environment: EnvironmentVariables): Promise<Settings> {
  return parseSettings({}, { folder: dirname(path), path, state: { folder, realPath: toPlanned(path) } }, environment);
}

/** The real path that a file will have. */
function toPlanned(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(path);
  return folder === path ? path : join(toPlanned(folder), basename(path));
}
