/**
 * The rule file that decisions of people are written to: `policy.file`, else `rules.json` beside the store. Comments in
 * it stay. A new version replaces the file at once: a kill leaves the old or the new one.
 */

import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { applyEdits, modify } from "jsonc-parser";

import { GloveboxError, isJsonObject } from "../domain/index.ts";
import type { Json, JsonObject, PolicyRule, RuleFile } from "../domain/index.ts";
import { SQLITE_MEMORY } from "./formats.ts";
import { followRules, parseRules } from "./follow-rules.ts";
import { parseJsonc } from "./read/parse-jsonc.ts";
import { readTextFile } from "./read/read-text-file.ts";
import type { Settings } from "./settings.ts";

export interface RuleBook {
  /** `undefined` if the store is in memory and the configuration names no rule file. */
  readonly path: string | undefined;
  /** The rules as they are written, also those in `rules.json` from before `policy.file` was set. */
  list(): Promise<readonly JsonObject[]>;
  /** Returns false if the file has a rule with this id. Rejects with CONFIG_INVALID, and changes nothing then. */
  add(rule: JsonObject & { readonly id: string }): Promise<boolean>;
  /** Returns false for an unknown rule. Rejects as `add` does. */
  remove(id: string): Promise<boolean>;
}

type BookSettings = Pick<Settings, "policy" | "store">;

const FILE = { maxBytes: 1024 * 1024, kind: "a rule file" };
const EMPTY = '{\n  "rules": []\n}\n';
const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: "\n" } };
/** A draft that is older, or much younger than now, belongs to a process that was killed. */
const STALE_MS = 5_000;
const RETRY_MS = 50;

export function openRuleBook(settings: BookSettings): RuleBook {
  const [path, ...former] = toBookPaths(settings);
  const taken = new Set<string>(settings.policy.rules.map(({ id }) => id));
  return {
    path,
    list: async () => (await Promise.all(toBookPaths(settings).map(readRules))).flat(),
    async add(rule) {
      if (path === undefined) throw hasNoPlace();
      for (const file of former) if ((await readRules(file)).some(({ id }) => id === rule.id)) return false;
      return changeFile(path, taken, (text, rules) =>
        rules.some(({ id }) => id === rule.id) ? undefined : edit(text, ["rules", rules.length], rule),
      );
    },
    async remove(id) {
      let isRemoved = false;
      for (const file of toBookPaths(settings)) {
        if (!(await readRules(file)).some((rule) => rule["id"] === id)) continue;
        const isChanged = await changeFile(file, taken, (text, rules) => {
          const at = rules.findIndex((rule) => rule["id"] === id);
          return at < 0 ? undefined : edit(text, ["rules", at], undefined);
        });
        isRemoved ||= isChanged;
      }
      return isRemoved;
    },
  };
}

async function readText(path: string): Promise<string> {
  return (await exists(path)) ? readTextFile(path, FILE) : EMPTY;
}

async function readRules(path: string): Promise<readonly JsonObject[]> {
  return listRules(parseJsonc(await readText(path), path));
}

/** `edit` returns `undefined` to leave the file as it is; then this returns false. */
async function changeFile(
  path: string,
  taken: ReadonlySet<string>,
  change: (text: string, rules: readonly JsonObject[]) => string | undefined,
): Promise<boolean> {
  const target = await realpath(path).catch(() => path);
  await using draft = await openDraft(target);
  const text = await readText(path);
  const next = change(text, listRules(parseJsonc(text, target)));
  if (next === undefined) return false;
  parseRules(next, target, taken); // an invalid file is never written
  await draft.publish(next);
  return true;
}

/** The rule file of the configuration and, beside the store, the one for decisions; each is read when it changes. */
export function followRuleFiles(settings: BookSettings): RuleFile | undefined {
  const { file, rules: own } = settings.policy;
  const taken = new Set<string>(own.map(({ id }) => id));
  const beside = toBesidePath(settings);
  const named = file === undefined ? undefined : followRules(file, taken);
  const decided = beside === undefined ? undefined : ifPresent(followRules(beside, taken));
  if (!decided) return named;
  let [first, second]: (readonly PolicyRule[])[] = [[], []];
  return {
    path: named?.path ?? decided.path,
    async read() {
      const [one, other] = [await named?.read(), await decided.read()];
      if (!one && !other) return undefined;
      [first, second] = [one ?? first, other ?? second];
      const known = new Set((first ?? []).map(({ id }) => id));
      return [...(first ?? []), ...(second ?? []).filter(({ id }) => !known.has(id))];
    },
  };
}

/** A file that does not exist has no rules. */
function ifPresent(file: RuleFile): RuleFile {
  let wasPresent = true;
  return {
    path: file.path,
    async read() {
      const isPresent = await exists(file.path);
      const isGone = wasPresent && !isPresent;
      wasPresent = isPresent;
      if (isPresent) return file.read();
      return isGone ? [] : undefined;
    },
  };
}

/** The first one is written; another one has the rules of decisions from before `policy.file` was set. */
function toBookPaths(settings: BookSettings): readonly string[] {
  return [settings.policy.file, toBesidePath(settings)].filter((path) => path !== undefined);
}

function toBesidePath({ store: { path } }: BookSettings): string | undefined {
  return path === SQLITE_MEMORY ? undefined : join(dirname(path), "rules.json");
}

function edit(text: string, path: (string | number)[], value: Json | undefined): string {
  return applyEdits(text, modify(text, path, value, FORMAT));
}

function listRules(written: unknown): readonly JsonObject[] {
  const rules = isJsonObject(written) ? written["rules"] : undefined;
  return Array.isArray(rules) ? rules.filter(isJsonObject) : [];
}

/** The draft is also the lock: of two processes, the second waits until the first has published or removed it. */
async function openDraft(path: string) {
  const draft = `${path}.new`;
  const mode = (await stat(path).catch(() => undefined))?.mode ?? 0o600;
  for (;;) {
    try {
      const file = await open(draft, "wx", mode & 0o777);
      let isPublished = false;
      return {
        async publish(text: string): Promise<void> {
          try {
            await file.writeFile(text);
            await file.datasync();
            await rename(draft, path);
            isPublished = true;
          } catch (cause) {
            throw cannotWrite(path, cause);
          }
        },
        async [Symbol.asyncDispose](): Promise<void> {
          await file.close();
          if (!isPublished) await rm(draft, { force: true });
        },
      };
    } catch (cause) {
      if (codeOf(cause) !== "EEXIST") throw cannotWrite(path, cause);
      const made = await stat(draft).catch(() => undefined);
      if (made && !made.isFile()) throw cannotWrite(path, cause);
      const isStale = made !== undefined && Math.abs(Date.now() - made.mtimeMs) > STALE_MS;
      if (!isStale) await sleep(RETRY_MS);
      else await rm(draft, { force: true }).catch((thrown: unknown) => Promise.reject(cannotWrite(path, thrown)));
    }
  }
}

function hasNoPlace(): GloveboxError {
  const hint = "Name a rule file in `policy.file`, or choose a scope that ends with the session";
  return new GloveboxError("CONFIG_INVALID", "Rules cannot be written: the store is in memory", { hint });
}

function cannotWrite(path: string, cause: unknown): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${path} cannot be written (${codeOf(cause)})`, {
    cause,
    hint: "Make the file and its folder writable, or choose a scope that ends with the session",
  });
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (thrown: unknown) => codeOf(thrown) !== "ENOENT",
  );
}
