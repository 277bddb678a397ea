/** Reads every execution of every store below a folder that tests left. */

import { closeSync, existsSync, openSync, readFileSync, readSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { loadSettings, parseSettings } from "../../src/config/index.ts";
import type { Settings } from "../../src/config/index.ts";
import { GloveboxError, describeError } from "../../src/domain/index.ts";
import type { ExecutionId } from "../../src/domain/index.ts";
import { openJournals, toRecordingFile } from "../../src/execution/index.ts";
import { findKept } from "../../src/execution/replay/kept.ts";
import type { KeptExecution } from "../../src/execution/index.ts";
import { openRecords } from "../../src/open-records.ts";
import type { Records } from "../../src/open-records.ts";
import { parseRecording } from "../../src/surfaces/parse-request.ts";
import { createMask, findPlaintextCredentials } from "../../src/vault/index.ts";
import type { Vault } from "../../src/vault/index.ts";
import { STARTS_FILE } from "../fixtures/passing-store.ts";
import type { StartRecord } from "../fixtures/passing-store.ts";
import { REASONS } from "./difference-reasons.ts";
import type { Reason } from "./difference-reasons.ts";

/** The exported recording; if secrets were masked in the export, the recording in the store. */
export interface Recording {
  readonly kept: KeptExecution;
  /** Whether secrets were masked in its export. */
  readonly isMasked: boolean;
  /** Masks secrets in the output. */
  readonly hide: (text: string) => string;
}

/** One execution that can be replayed, or the reason why it cannot. */
export type StoredExecution =
  | ({ readonly kind: "kept"; readonly id: ExecutionId } & Recording)
  | { readonly kind: "unkept"; readonly id: ExecutionId; readonly reason: Reason }
  | { readonly kind: "broken"; readonly id: ExecutionId; readonly what: string };

const HEADER = "SQLite format 3\0";
const KEY = "GLOVEBOX_ENCRYPTION_KEY";
const MOST = 100_000;

/** Tests give stores any name, so a store is recognized by its first bytes. */
export function listStores(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(isDatabase);
}

function isDatabase(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(HEADER.length);
    readSync(file, start);
    return start.toString("latin1") === HEADER;
  } finally {
    closeSync(file);
  }
}

/**
 * Rejects with STORE_UNAVAILABLE for a file that is not a store, or one of another version. `folder` has the recorded
 * starts.
 */
export async function readStore(path: string, folder: string): Promise<readonly StoredExecution[]> {
  const starts = readStarts(folder).filter((start) =>
    [`/${start.folder}/`, `/${start.folder}-`].some((part) => path.includes(part)),
  );
  const settings = await findSettings(path, starts, folder);
  if ((await listAll(settings)).length === 0) return [];
  await using records = await openAny(settings, starts);
  const read = await openReading(settings, records.store, records.vault);
  const found: StoredExecution[] = [];
  for (const { id } of await records.store.executions.list({ limit: MOST })) found.push(await read(id));
  return found;
}

async function listAll(settings: Settings) {
  await using records = await openRecords(settings);
  return await records.store.executions.list({ limit: MOST });
}

function readStarts(folder: string): readonly StartRecord[] {
  const file = join(folder, STARTS_FILE);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").trim().split("\n").map(parseStart);
}

function parseStart(line: string): StartRecord {
  return JSON.parse(line) as StartRecord; // written by `recordStart`
}

/** With the secrets of the configuration, if it can still be read. */
async function findSettings(path: string, starts: readonly StartRecord[], kept: string): Promise<Settings> {
  const bare = parseSettings({ store: { url: `sqlite:${path}` } }, { folder: dirname(path) }, {});
  const environment = Object.assign({}, ...starts.map((start) => start.environment)) as Record<string, string>;
  const file = [dirname(path), dirname(dirname(path)), ...listProjects(path, kept)]
    .map((folder) => join(folder, "glovebox.config.json"))
    .find((candidate) => existsSync(candidate));
  if (file === undefined) return bare;
  const whole = await loadSettings(file, environment).catch(() => bare);
  return { ...whole, store: bare.store };
}

/** The folder whose default store is at this path, by the name that both have. */
function listProjects(path: string, kept: string): readonly string[] {
  const [, name] = /^(.+)-[0-9a-f]{12}$/.exec(basename(dirname(path))) ?? [];
  return readdirSync(kept, { withFileTypes: true })
    .filter((entry) => name !== undefined && entry.isDirectory())
    .map((entry) => join(kept, entry.name, name ?? ""));
}

/** With the key beside the store, or one of those that its gateways were started with. */
async function openAny(settings: Settings, starts: readonly StartRecord[]): Promise<Records> {
  const keys = new Set([undefined, ...starts.map(({ environment }) => environment[KEY])]);
  const tried: unknown[] = [];
  for (const key of keys) {
    if (key === undefined) delete process.env[KEY];
    else process.env[KEY] = key;
    const records = await openRecords(settings);
    try {
      await records.vault.ready();
      return records;
    } catch (thrown) {
      await records[Symbol.asyncDispose]();
      tried.push(thrown);
    }
  }
  throw new AggregateError(tried, "No key opens this store");
}

async function openReading(settings: Settings, store: Records["store"], vault: Vault) {
  const mask = createMask();
  const written = findPlaintextCredentials(settings);
  for (const text of [...(await vault.known()).map((secret) => secret.reveal()), ...written]) mask.add(text);
  const seal = await vault.openSeal();
  const journals = openJournals({ store: store.journals, seal, now: Date.now, ...settings.journal });
  return async (id: ExecutionId): Promise<StoredExecution> => {
    try {
      const kept = await findKept(id, { store, journals });
      const text = JSON.stringify(toRecordingFile(kept, { version: "test", hide: mask.hide }));
      const exported = parseRecording(JSON.parse(text));
      const { isMasked } = exported;
      return { kind: "kept", id, kept: isMasked ? kept : exported, isMasked, hide: mask.hide };
    } catch (thrown) {
      return toUnkept(id, thrown);
    }
  };
}

function toUnkept(id: ExecutionId, thrown: unknown): StoredExecution {
  if (!(thrown instanceof GloveboxError)) throw thrown;
  const { code, message } = describeError(thrown);
  if (code === "REQUEST_INVALID" && message.includes("did not start a program")) {
    return { kind: "unkept", id, reason: REASONS.neverBegan };
  }
  if (code === "REQUEST_NOT_FOUND") return { kind: "unkept", id, reason: REASONS.notKept };
  if (code === "REPLAY_DIVERGED" && message.includes("is damaged")) {
    return { kind: "unkept", id, reason: REASONS.damaged };
  }
  return { kind: "broken", id, what: `${code}: ${message}` };
}
