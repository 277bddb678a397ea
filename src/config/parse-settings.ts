/** Turns an unchecked configuration into settings, or throws one error that lists all problems. */

import { defined, isJsonObject } from "../domain/index.ts";
import type { Json } from "../domain/index.ts";
import { checkRelations } from "./schema/check-relations.ts";
import { copyConfig } from "./read/copy-config.ts";
import { expandReferences } from "./expand-references.ts";
import type { EnvironmentVariables } from "./expand-references.ts";
import { createLocate } from "./read/parse-jsonc.ts";
import { createProblems, toConfigError } from "./problems.ts";
import { reportIssues } from "./schema/report-issues.ts";
import { configSchema } from "./schema/schema.ts";
import type { Settings } from "./settings.ts";
import { toSettings } from "./to-settings.ts";
import type { ConfigState } from "./to-settings.ts";

export interface ConfigSource {
  /** The absolute folder that relative paths of the configuration start from. */
  readonly folder: string;
  /** The file, if any; messages start with it. */
  readonly path?: string;
  /** The text of a JSON or JSONC file, for lines and columns in messages. */
  readonly text?: string;
  readonly state?: ConfigState | undefined;
}

/** Runs all checks before it throws, so that one error lists every problem. */
export function parseSettings(raw: unknown, source: ConfigSource, environment: EnvironmentVariables): Settings {
  const problems = createProblems();
  const { rest, objects } = takeAdapterObjects(raw);
  const written = withoutDisabled(copyConfig(rest, problems));
  const expanded = expandReferences(written, environment, problems);
  const checked = configSchema.safeParse(expanded);
  if (!checked.success) reportIssues(checked.error.issues, written, problems);
  checkRelations(expanded, environment, problems);
  if (!checked.success || problems.list().length > 0) {
    const locate = source.text === undefined ? undefined : createLocate(source.text);
    throw toConfigError(problems.list(), source.path, locate);
  }
  const { folder, path, state } = source;
  const origin: Settings["source"] = path === undefined ? { kind: "object" } : { kind: "file", path };
  return toSettings(checked.data, { source: origin, folder, environment, objects, state });
}

/** Placeholder of an adapter object during the checks; never used as a path. */
const STAND_IN = "(adapter)";

/** Adapter objects contain functions, so they are removed before the configuration becomes plain JSON. */
function takeAdapterObjects(raw: unknown): { readonly rest: unknown; readonly objects: ReadonlyMap<number, object> } {
  const objects = new Map<number, object>();
  if (typeof raw !== "object" || raw === null || !("adapters" in raw)) return { rest: raw, objects };
  const { adapters, ...others } = raw;
  if (!Array.isArray(adapters)) return { rest: raw, objects };
  const entries: readonly unknown[] = adapters;
  const plain = entries.map((entry, index) => {
    if (typeof entry !== "object" || entry === null || isPlainEntry(entry)) return entry;
    const module: unknown = "module" in entry ? entry.module : undefined;
    if (typeof module !== "object" || module === null) {
      objects.set(index, entry);
      return STAND_IN;
    }
    objects.set(index, module);
    return { ...entry, module: STAND_IN };
  });
  return { rest: { ...others, adapters: plain }, objects };
}

/** True for an entry that names a module or is invalid; adapters, and modules that export one, contain objects. */
function isPlainEntry(entry: object): boolean {
  if ("module" in entry && typeof entry.module === "string") return true;
  return Object.values(entry).every((value: unknown) => typeof value !== "object" && typeof value !== "function");
}

/** Removes disabled upstreams before the checks, so that a broken one can be disabled. */
function withoutDisabled(config: Json): Json {
  if (!isJsonObject(config)) return config;
  return {
    ...config,
    ...defined({ mcpServers: toEnabled(config["mcpServers"]), openapi: toEnabled(config["openapi"]) }),
  };
}

function toEnabled(entries: Json | undefined): Json | undefined {
  if (!isJsonObject(entries)) return entries;
  const enabled = Object.entries(entries).filter(([, entry]) => !isJsonObject(entry) || entry["disabled"] !== true);
  return Object.fromEntries(enabled);
}
