/** A rotation that is killed with `kill -9` right before each of its steps: nothing is lost, and the next start ends it. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import type { SecretRow } from "../store/index.ts";

import { folder, name, newPath, setUp } from "./fixtures/set-up.ts";
import { readKeyFile } from "./key-file.ts";
import { deriveMasterKey, unseal } from "./seal.ts";
import type { MasterKey } from "./seal.ts";
import { Secret } from "./secret.ts";

const ROTATION = fileURLToPath(new URL("fixtures/killed-rotation.ts", import.meta.url));
const NAMES = ["A", "B", "C"].map(name);
/** Two cores: more at once would only wait for each other. */
const PARALLEL = 3;

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly printed: string;
}

async function rotate(path: string, keyFile: string, killAt: number): Promise<Ended> {
  const child = spawn(process.execPath, [ROTATION, path, keyFile, `${killAt}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<NodeJS.Signals | null>((done) => child.once("close", (_code, signal) => done(signal)));
  const [printed, signal] = await Promise.all([text(child.stdout), ended]);
  return { signal, printed };
}

/** A store with three secrets, closed; each killed rotation gets a copy. */
async function prepare(): Promise<string> {
  const keyFile = newPath();
  mkdirSync(dirname(keyFile));
  const path = join(dirname(keyFile), "original.db");
  await using fixture = await setUp(path, keyFile);
  for (const secret of NAMES) await fixture.vault.set(secret, new Secret(`value of ${secret}`), "ada");
  return path;
}

function copy(original: string, killAt: number): { readonly path: string; readonly keyFile: string } {
  const place = join(folder, `killed-${killAt}`);
  mkdirSync(place);
  const [path, keyFile] = [join(place, "glovebox.db"), join(place, "vault.key")];
  copyFileSync(original, path);
  copyFileSync(join(dirname(original), "vault.key"), keyFile);
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

/** Whether the store had changed when the process died, after everything about it was found to be right. */
async function examine(original: string, killAt: number): Promise<"former" | "next"> {
  const { path, keyFile } = copy(original, killAt);
  assert.deepEqual(await rotate(path, keyFile, killAt), { signal: "SIGKILL", printed: "" });
  await using fixture = await setUp(path, keyFile);
  const { vault, store } = fixture;
  const [former, promoted, next] = [
    keyOf(join(dirname(original), "vault.key")),
    keyOf(keyFile),
    keyOf(`${keyFile}.next`),
  ];
  const other = promoted?.check === former?.check ? next : promoted;
  const found = (await store.secrets.list()).map((row) => [opens(row, former), opens(row, other)]);
  const isNext = found[0]?.[1] === true;
  assert.deepEqual(
    found,
    NAMES.map(() => [!isNext, isNext]),
    `step ${killAt}`,
  );
  await vault.ready();
  const values = await Promise.all(NAMES.map(async (secret) => (await vault.lend(secret, "test")).reveal()));
  assert.deepEqual(
    values,
    NAMES.map((secret) => `value of ${secret}`),
  );
  const hadBegun = isNext || next !== undefined;
  assert.equal(keyOf(keyFile)?.check !== former?.check, hadBegun, `step ${killAt}`);
  assert.equal(existsSync(`${keyFile}.next`), false);
  await vault.rotate({ actor: "ada", handOverMs: 0 });
  assert.deepEqual(
    readdirSync(dirname(keyFile)).filter((file) => file.startsWith("vault.key")),
    ["vault.key"],
  );
  assert.equal((await vault.lend(name("A"), "test")).reveal(), "value of A");
  return isNext ? "next" : "former";
}

test("killed before any step, every secret opens with exactly one key and the next start finishes", async () => {
  const original = await prepare();
  const { path, keyFile } = copy(original, 0);
  const { printed } = await rotate(path, keyFile, 0);
  assert.notEqual(readFileSync(keyFile, "utf8"), readFileSync(join(dirname(original), "vault.key"), "utf8"));
  const steps = Array.from({ length: Number(printed) }, (_, index) => index + 1);
  assert.ok(steps.length > 20, printed);
  const found: string[] = [];
  const waiting = steps.values();
  const work = async (): Promise<void> => {
    for (const killAt of waiting) found[killAt - 1] = await examine(original, killAt);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  // All steps before one commit leave the former key, all after it the next one.
  const change = found.indexOf("next");
  assert.ok(change > 0);
  assert.deepEqual(found, [...found.slice(0, change).fill("former"), ...found.slice(change).fill("next")]);
});
