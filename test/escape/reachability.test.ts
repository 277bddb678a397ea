/**
 * Walks every value that a program can reach and finds nothing of another realm; it does find shared objects where they
 * exist.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

import type { EngineName } from "../../src/domain/index.ts";
import { ENGINES } from "../../src/sandbox/fixtures/engines.ts";
import { LEVELS, TIGHT, confineAt, openEscapeSandbox } from "./fixtures/escape-sandbox.ts";
import type { EscapeSandbox } from "./fixtures/escape-sandbox.ts";

const WALK = readFileSync(new URL("fixtures/reach.js", import.meta.url), "utf8");
/**
 * A realm has nearly a thousand built-in values, fewer without Intl; a smaller count means that the walk is incomplete.
 */
const FEWEST_VALUES: Readonly<Record<EngineName, number>> = { isolate: 900, quickjs: 750, workerd: 900, auto: 750 };

const REMOVED = ["SharedArrayBuffer", "WeakRef", "FinalizationRegistry", "compileStreaming", "instantiate", "wait"];
/** The guest's own side, which is in the stack of every program. */
const GUEST = ["boot", "start", "deliver", "send", "settleCall", "fail", "finish"];

interface Walked {
  readonly visited: number;
  readonly foreign: readonly string[];
  readonly names: readonly string[];
}

function parseWalked(value: unknown): Walked {
  return value as Walked;
}

/** Enough time and memory for a busy machine, where V8 collects garbage late. */
async function walk(sandbox: EscapeSandbox): Promise<Walked> {
  const { ending } = await sandbox.run(WALK, { wallMs: 120_000, memoryBytes: 4 * TIGHT.memoryBytes });
  assert.ok(ending.kind === "returned", JSON.stringify(ending));
  return parseWalked(ending.value);
}

for (const engine of ENGINES) {
  for (const level of LEVELS) {
    test(`on ${engine} at level ${level}, every value that a program reaches is of its own realm`, async (context) => {
      await using sandbox = await openEscapeSandbox(await confineAt(engine, level));
      const walked = await walk(sandbox);
      context.diagnostic(`${walked.visited} values, ${walked.names.length} names of functions`);
      assert.deepEqual(walked.foreign, []);
      assert.ok(walked.visited >= FEWEST_VALUES[engine], `only ${walked.visited} values`);
    });

    test(`on ${engine} at level ${level}, a removed global cannot be reached under any other name`, async () => {
      await using sandbox = await openEscapeSandbox(await confineAt(engine, level));
      const { names } = await walk(sandbox);
      assert.deepEqual(
        names.filter((name) => REMOVED.includes(name) || GUEST.includes(name)),
        [],
      );
      assert.deepEqual(
        ["echo", "stringify", "setTimeout"].filter((name) => !names.includes(name)),
        ["echo"],
      );
    });
  }
}

test("the walk finds the host where its objects are shared", async () => {
  const tools = {
    echo: (value: unknown) => Promise.resolve(value),
    fail: (message: string) => Promise.reject(new Error(message)),
    each: () => Promise.resolve([]),
  };
  const context = vm.createContext({
    tools,
    URL,
    TextEncoder,
    TextDecoder,
    structuredClone,
    atob,
    btoa,
    console: { log() {} },
    setTimeout: () => 0,
  });
  const walked = parseWalked(await vm.runInContext(`(async () => {${WALK}\n})()`, context));
  assert.ok(walked.foreign.length > 0);
  assert.ok(walked.visited >= FEWEST_VALUES.isolate);
});

test("the walk finds a function that compiles source code where one exists", async () => {
  const context = vm.createContext({});
  const bare = WALK.replaceAll(/^await .*$/gm, "");
  const walked = parseWalked(await vm.runInContext(`(async () => {${bare}\n})()`, context));
  assert.ok(walked.foreign.some((found) => found.endsWith("compiles text")));
});
