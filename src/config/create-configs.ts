/** Finds, loads and trusts the configuration of one user and working directory. */

import type { ConnectorId, GloveboxError, ServerSettings } from "../domain/index.ts";
import { createConsents } from "./consents.ts";
import type { ConfigAdmission } from "./consents.ts";
import type { EnvironmentVariables } from "./expand-references.ts";
import { loadSettings, readConfig } from "./load-settings.ts";
import type { ConfigText } from "./load-settings.ts";
import { findConfig, getConfigToTrust, toUserFolder } from "./read/find-config.ts";
import type { ConfigSearch } from "./read/find-config.ts";
import type { Settings } from "./settings.ts";
import { builtinSettings } from "./to-settings.ts";

interface ConfigsOptions extends Pick<ConfigSearch, "cwd" | "home" | "uid"> {
  /** `XDG_CONFIG_HOME` and `XDG_STATE_HOME`. */
  readonly configHome: string | undefined;
  readonly stateHome: string | undefined;
  readonly environment: EnvironmentVariables;
  /** The upstreams without a configuration. */
  readonly findUpstreams: (cwd: string) => ReadonlyMap<ConnectorId, ServerSettings>;
  readonly warn: (warning: GloveboxError) => void;
}

/** In every function, `explicit` is a path that the user or the program names; without it the configuration is searched. */
export function createConfigs({ cwd, home, uid, environment, findUpstreams, warn, ...homes }: ConfigsOptions) {
  const userConfigFolder = toUserFolder(homes.configHome, home, ".config");
  const consents = createConsents(toUserFolder(homes.stateHome, home, ".local/state"));
  const toSearch = (explicit: string | undefined): ConfigSearch => ({ cwd, home, uid, userConfigFolder, explicit });
  async function findSettings(explicit: string | undefined, admit: ConfigAdmission): Promise<Settings> {
    const found = await findConfig(toSearch(explicit));
    if (!found) return builtinSettings(findUpstreams(cwd), cwd);
    return loadSettings(found.path, environment, found.from === "project" ? admit : undefined);
  }
  return {
    /** For what starts something. A configuration that is found in a project needs consent, which `confirm` can give. */
    loadSettings: (explicit: string | undefined, confirm?: ConfigAdmission) =>
      findSettings(explicit, consents.require(confirm)),
    /** For what starts nothing: needs no consent, and runs no code without it. */
    readSettings: (explicit: string | undefined) => findSettings(explicit, consents.withholdCode(warn)),
    /** Shows the configuration and records consent to it. `explicit` is a file, or a folder to search from. */
    async giveConsent(explicit: string | undefined, show: (config: ConfigText) => void): Promise<ConfigText> {
      const config = await readConfig(await getConfigToTrust(toSearch(explicit)));
      show(config);
      consents.give(config);
      return config;
    },
  };
}
