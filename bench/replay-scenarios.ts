/**
 * `npm run replay:scenarios [-- FOLDER]`: runs the scenario tests, keeps their stores, and replays every execution in
 * them on every engine. Exits with 1 if a replay differs without a reason of `test/replays/difference-reasons.ts`. With
 * a folder of stores that were kept before, it only replays.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";

import { buildIfStale } from "../scripts/build.ts";
import { GloveboxError } from "../src/domain/index.ts";
import type { EngineName } from "../src/domain/index.ts";
import { ENGINES } from "../src/sandbox/fixtures/engines.ts";
import { STORES_FOLDER } from "../test/fixtures/passing-store.ts";
import { listStores, readStore } from "../test/replays/read-stores.ts";
import type { StoredExecution } from "../test/replays/read-stores.ts";
import { openReplayer } from "../test/replays/replay-recordings.ts";
import type { Replayer } from "../test/replays/replay-recordings.ts";

const TESTS = ["scenarios", "flows", "durable", "canary"].map((folder) => `test/${folder}/**/*.test.ts`);
const AT_ONCE = 2;

const given = process.argv[2];
const folder = given === undefined ? mkdtempSync(join(tmpdir(), "kept-")) : resolve(given);
const isRun = given !== undefined || (await runTests());
const { executions, wrong } = await showAll();
if (given === undefined && wrong === 0) rmSync(folder, { recursive: true });
else console.log(`The stores are in ${folder}`);
process.exitCode = isRun && wrong === 0 && executions > 0 ? 0 : 1;

async function runTests(): Promise<boolean> {
  await buildIfStale();
  const preload = `--import=${resolve("test/replays/keep-stores.ts")}`;
  const env = { ...process.env, [STORES_FOLDER]: folder, NODE_OPTIONS: preload };
  const args = ["--test", "--test-concurrency=2", "--test-timeout=300000", "--test-reporter=dot", ...TESTS];
  const [code] = (await once(spawn(process.execPath, args, { env, stdio: "inherit" }), "close")) as [number | null];
  if (code !== 0) console.log("Some scenario tests failed; what they left is shown all the same");
  return code === 0;
}

async function showAll(): Promise<{ readonly executions: number; readonly wrong: number }> {
  await using replayer = openReplayer();
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  let [executions, wrong] = [0, 0];
  const tell = (what: string): void => {
    wrong += 1;
    console.log(`DIFFERENT ${what}`);
  };
  const work = [...(await readAll(count, tell))];
  const next = async (): Promise<void> => {
    for (let one = work.shift(); one; one = work.shift()) {
      executions += 1;
      await showOne(one, { replayer, count, tell });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  console.log(`${executions} executions, ${wrong} differences`);
  for (const [what, times] of [...counts].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`${String(times).padStart(6)}  ${what}`);
  return { executions, wrong };
}

interface Placed {
  readonly place: string;
  readonly found: StoredExecution;
}

interface Telling {
  readonly count: (what: string) => void;
  readonly tell: (what: string) => void;
}

async function readAll(count: Telling["count"], tell: Telling["tell"]): Promise<readonly Placed[]> {
  const all: Placed[] = [];
  for (const path of listStores(folder)) {
    const place = join(relative(folder, dirname(path)), basename(path));
    try {
      for (const found of await readStore(path, folder)) all.push({ place, found });
    } catch (thrown) {
      const isNone = thrown instanceof GloveboxError && thrown.code === "STORE_UNAVAILABLE";
      if (isNone) count("files: no store, or none of this version, as its test made it");
      else tell(`${place} cannot be read: ${String(thrown)}`);
    }
  }
  return all;
}

async function showOne(
  { place, found }: Placed,
  { replayer, count, tell }: Telling & { readonly replayer: Replayer },
): Promise<void> {
  if (found.kind === "unkept") return count(`not shown: ${found.reason}`);
  if (found.kind === "broken") return tell(`${place} ${found.id}: ${found.what}`);
  count(`shown, recorded on ${found.kept.recording.started.engine}${found.isMasked ? ", with secrets" : ""}`);
  const showOn = async (engine: EngineName): Promise<void> => {
    const shown = await replayer.replay(found, engine);
    if (shown.kind === "different") tell(`${place} ${found.id} on ${engine}: ${shown.what}`);
    else count(`${engine}: ${shown.kind === "same" ? "the same bytes" : shown.reason}`);
  };
  await Promise.all(ENGINES.map(showOn));
}
