/** A skill as its files describe it, after all checks. */

import type { ConnectorId, Digest, Effect, Json, JsonSchema, Namespace, ToolAddress } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import type { WantedPower } from "./powers.ts";
import { digestOf } from "../text/index.ts";

/** The namespace of skills in programs, and their connector: no upstream can have this namespace. */
export const SKILLS = "skills";
/** Of all files of one skill. */
export const MOST_BYTES = 256 * 1024;
export const LOCK_FILE = "skill.lock.json";

/** One version, as the store keeps it. */
export type SkillRow = Awaited<ReturnType<Store["skills"]["list"]>>[number];

export type SkillState = SkillRow["state"];

/** One tool that a skill may call: bound to the tool of one server as it was then, not only to its name. */
export interface SkillGrant {
  readonly address: ToolAddress;
  readonly connector: ConnectorId;
  readonly remoteName: string;
  readonly definition: Digest;
  readonly effect: Effect;
}

/** Files by their path in the folder, with `/`. */
export type SkillFiles = ReadonlyMap<string, Uint8Array>;

/** A tool that a skill asks for, and why. */
export interface WantedTool {
  readonly tool: ToolAddress;
  readonly reason: string;
}

/** A recorded execution: with these answers of its tools, the input gives this output. */
export interface SkillTest {
  readonly file: string;
  readonly input: Json;
  readonly calls: readonly { readonly tool: string; readonly args: Json; readonly result: Json }[];
  readonly output: Json;
  /** The seed and the clock of the recording. */
  readonly start?: { readonly seed: readonly number[]; readonly atMs: number } | undefined;
}

/** A test on one engine; `problem` says how it differs from the recording, and is absent for one that passes. */
export interface TestRun {
  readonly file: string;
  readonly engine: string;
  readonly problem?: string;
}

/** Replays tests with no upstream, on every engine. */
export type RunTests = (job: {
  readonly source: string;
  readonly namespaces: readonly Namespace[];
  readonly tests: readonly SkillTest[];
  /** It has `fetch`, and these secrets as tokens. */
  readonly network?: boolean;
  readonly secrets?: readonly string[];
}) => Promise<readonly TestRun[]>;

export interface ParsedSkill {
  /** As `SKILL.md` writes it, such as `weekly-report`. */
  readonly name: string;
  /** In programs, such as `skills.weeklyReport`. */
  readonly address: ToolAddress;
  readonly description: string;
  readonly license?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly program: string;
  readonly requests: readonly WantedTool[];
  /** What it asks for besides tools. */
  readonly wants: readonly WantedPower[];
  readonly tests: readonly SkillTest[];
}

/** The digest of each file by its path. */
export type FileDigests = Readonly<Record<string, Digest>>;

/** Without the lock, which states the digests. */
export function withoutLock(files: SkillFiles): SkillFiles {
  return new Map([...files].filter(([path]) => path !== LOCK_FILE));
}

export function digestFiles(files: SkillFiles): FileDigests {
  return Object.fromEntries(
    [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([path, bytes]) => [path, digestOf(bytes)]),
  );
}

/** The digest of a version: another byte in any file, or another path, gives another one. */
export function digestSkill(files: FileDigests): Digest {
  return digestOf({ ...files });
}
