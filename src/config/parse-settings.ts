/** From anything that claims to be a configuration to settings, or to one error that lists all that is wrong. */

import { isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import { checkRelations } from "./schema/check-relations.ts";
import { copyConfig } from "./read/copy-config.ts";
import { expandReferences } from "./expand-references.ts";
import type { Environment } from "./expand-references.ts";
import { createLocate } from "./read/parse-jsonc.ts";
import { createProblems, toConfigError } from "./problems.ts";
import { reportIssues } from "./schema/report-issues.ts";
import { configSchema } from "./schema/schema.ts";
import type { Settings } from "./settings.ts";
import { toSettings } from "./to-settings.ts";

/** Where a configuration comes from. */
export interface ConfigSource {
  /** Absolute; what relative paths in the configuration are relative to. */
  readonly folder: string;
  /** The file, if there is one; messages start with it. */
  readonly path?: string;
  /** The text of a JSON or JSONC file; with it, messages have lines and columns. */
  readonly text?: string;
}

/** Checks everything before it complains, so that one look at the error is enough to repair the file. */
export function parseSettings(raw: unknown, source: ConfigSource, environment: Environment): Settings {
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
  const { folder, path } = source;
  return toSettings(checked.data, {
    source: path === undefined ? { kind: "object" } : { kind: "file", path },
    folder,
    environment,
    objects,
  });
}

/** What stands in for an adapter while the configuration is checked; it is never read as a path. */
const STAND_IN = "(adapter)";

/** Adapters hold functions, so they are taken out before the configuration becomes plain JSON. */
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

/** True for what names a module or holds a mistake; an adapter, and a module that exports one, hold objects. */
function isPlainEntry(entry: object): boolean {
  if ("module" in entry && typeof entry.module === "string") return true;
  return Object.values(entry).every((value: unknown) => typeof value !== "object" && typeof value !== "function");
}

/** A disabled server vanishes before the checks: whoever switches a broken one off wants to start without it. */
function withoutDisabled(config: Json): Json {
  if (!isJsonObject(config)) return config;
  const { mcpServers, openapi } = config;
  return {
    ...config,
    ...(isJsonObject(mcpServers) && { mcpServers: toEnabled(mcpServers) }),
    ...(isJsonObject(openapi) && { openapi: toEnabled(openapi) }),
  };
}

function toEnabled(entries: JsonObject): JsonObject {
  const enabled = Object.entries(entries).filter(([, entry]) => !isJsonObject(entry) || entry["disabled"] !== true);
  return Object.fromEntries(enabled);
}
