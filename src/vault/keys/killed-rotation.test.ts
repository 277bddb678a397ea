/** A rotation that is killed with `kill -9` right before each of its steps: nothing is lost, and the next start ends it. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import type { SecretRow, Store } from "../../store/index.ts";

import { KEY, OTHER_KEY, name, newPath, setUp } from "../fixtures/set-up.ts";
import type { Vault } from "../vault.ts";
import { parseKey, readKeyFile } from "./key-file.ts";
import { deriveMasterKey, unseal } from "../seal.ts";
import type { MasterKey } from "../seal.ts";
import { Secret } from "../secret.ts";

const ROTATION = fileURLToPath(new URL("fixtures/killed-rotation.mjs", import.meta.url));
const NAMES = ["A", "B", "C"].map(name);
/** Two cores: more at once would only wait for each other. */
const PARALLEL = 3;

const VARIABLES = { environmentKey: KEY, nextEnvironmentKey: OTHER_KEY };

interface Place {
  readonly path: string;
  readonly keyFile: string;
}

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly printed: string;
}

/** `keys` are those of the environment, if it is about them. */
async function rotate({ path, keyFile }: Place, killAt: number, keys: readonly string[]): Promise<Ended> {
  const args = [ROTATION, path, keyFile, `${killAt}`, ...keys];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<NodeJS.Signals | null>((done) => child.once("close", (_code, signal) => done(signal)));
  const [printed, signal] = await Promise.all([text(child.stdout), ended]);
  return { signal, printed };
}

/** A store with three secrets, closed; each killed rotation gets a copy. */
async function prepare(key: { readonly environmentKey?: string }): Promise<Place> {
  const keyFile = newPath();
  mkdirSync(dirname(keyFile));
  const path = join(dirname(keyFile), "glovebox.db");
  await using fixture = await setUp(path, keyFile);
  const vault = fixture.reopen(key);
  for (const secret of NAMES) await vault.set(secret, new Secret(`value of ${secret}`), "ada");
  return { path, keyFile };
}

function copy(original: Place): Place {
  const keyFile = newPath();
  mkdirSync(dirname(keyFile));
  const path = join(dirname(keyFile), "glovebox.db");
  copyFileSync(original.path, path);
  if (existsSync(original.keyFile)) copyFileSync(original.keyFile, keyFile);
  return { path, keyFile };
}

function opens(row: SecretRow, key: MasterKey | undefined): boolean {
  if (!key) return false;
  try {
    return unseal(row, row, key).reveal() === `value of ${row.name}`;
  } catch {
    return false;
  }
}

function keyOf(path: string): MasterKey | undefined {
  const bytes = readKeyFile(path);
  return bytes && deriveMasterKey(bytes);
}

type Side = "former" | "next";

/** With which of two keys all secrets open, none of them with the other. */
async function findSide(store: Store, former: MasterKey | undefined, next: MasterKey | undefined): Promise<Side> {
  const found = (await store.secrets.list()).map((row) => [opens(row, former), opens(row, next)]);
  const isNext = found[0]?.[1] === true;
  assert.deepEqual(
    found,
    NAMES.map(() => [!isNext, isNext]),
  );
  return isNext ? "next" : "former";
}

async function checkValues(vault: Vault): Promise<void> {
  const values = await Promise.all(NAMES.map(async (secret) => (await vault.lend(secret, "test")).reveal()));
  assert.deepEqual(
    values,
    NAMES.map((secret) => `value of ${secret}`),
  );
}

async function killFileRotation(original: Place, killAt: number): Promise<Side> {
  const place = copy(original);
  const { path, keyFile } = place;
  assert.deepEqual(await rotate(place, killAt, []), { signal: "SIGKILL", printed: "" });
  await using fixture = await setUp(path, keyFile);
  const { vault, store } = fixture;
  const [former, promoted, next] = [keyOf(original.keyFile), keyOf(keyFile), keyOf(`${keyFile}.next`)];
  const side = await findSide(store, former, promoted?.check === former?.check ? next : promoted);
  await vault.ready();
  await checkValues(vault);
  assert.equal(keyOf(keyFile)?.check !== former?.check, side === "next" || next !== undefined);
  assert.equal(existsSync(`${keyFile}.next`), false);
  await vault.rotate({ actor: "ada", handOverMs: 0 });
  const keys = readdirSync(dirname(keyFile)).filter((file) => file.startsWith("vault.key"));
  assert.deepEqual(keys, ["vault.key"]);
  await checkValues(vault);
  return side;
}

async function killEnvironmentRotation(original: Place, killAt: number): Promise<Side> {
  const place = copy(original);
  assert.deepEqual(await rotate(place, killAt, [KEY, OTHER_KEY]), { signal: "SIGKILL", printed: "" });
  await using fixture = await setUp(place.path, place.keyFile);
  const { store, reopen } = fixture;
  const [former, next] = [KEY, OTHER_KEY].map((key) => deriveMasterKey(parseKey(key, "It")));
  const side = await findSide(store, former, next);
  await checkValues(reopen(VARIABLES));
  assert.deepEqual(await reopen(VARIABLES).rotate({ actor: "ada", handOverMs: 0 }), { secrets: 3, damaged: [] });
  assert.equal(await findSide(store, former, next), "next");
  await checkValues(reopen({ environmentKey: OTHER_KEY }));
  assert.equal(await store.meta.get("vault.handover"), undefined);
  return side;
}

/** All steps before one commit leave the former key, all after it the next one. */
async function killAtEachStep(count: string, kill: (killAt: number) => Promise<Side>): Promise<void> {
  const steps = Array.from({ length: Number(count) }, (_, index) => index + 1);
  assert.ok(steps.length > 5, count);
  const found: Side[] = [];
  const waiting = steps.values();
  const work = async (): Promise<void> => {
    for (const killAt of waiting) found[killAt - 1] = await kill(killAt);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  const change = found.indexOf("next");
  assert.ok(change > 0);
  const expected = steps.map((killAt) => (killAt <= change ? "former" : "next"));
  assert.deepEqual(found, expected);
}

test("after a kill before any step of a rotation, every secret opens with exactly one key and the next start finishes", async () => {
  const original = await prepare({});
  const { printed } = await rotate(copy(original), 0, []);
  await killAtEachStep(printed, (killAt) => killFileRotation(original, killAt));
});

test("after a kill with keys of the environment, every secret opens with exactly one and the same command finishes", async () => {
  const original = await prepare({ environmentKey: KEY });
  const { printed } = await rotate(copy(original), 0, [KEY, OTHER_KEY]);
  await killAtEachStep(printed, (killAt) => killEnvironmentRotation(original, killAt));
});
