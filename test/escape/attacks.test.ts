/** Attacks beyond the corpus. Each has proof that it started, one allowed ending, and a healthy run after it. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Limits } from "../../src/domain/index.ts";
import { ENGINES } from "../../src/sandbox/fixtures/engines.ts";
import type { Attack } from "./attacks/attack.ts";
import { PRESSURE_ATTACKS } from "./attacks/pressure.ts";
import { REALM_ATTACKS } from "./attacks/realm.ts";
import { TAMPER_ATTACKS } from "./attacks/tamper.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import type { Canaries } from "./fixtures/canaries.ts";
import { parseCorpus, toProgram } from "./fixtures/corpus.ts";
import { DIFFERENCES, checkDifference } from "./fixtures/engine-differences.ts";
import {
  LATE_MS,
  LEVELS,
  LONGER,
  MARKER,
  SHORT,
  TIGHT,
  confineAt,
  openEscapeSandbox,
} from "./fixtures/escape-sandbox.ts";
import type { EscapeSandbox } from "./fixtures/escape-sandbox.ts";
import { assertEnding, findFloods, findLeaks, findPaths, describeEnding } from "./fixtures/check-run.ts";

const GROUPS: readonly (readonly [string, readonly Attack[]])[] = [
  ["reach", REALM_ATTACKS],
  ["tampering", TAMPER_ATTACKS],
  ["limits", PRESSURE_ATTACKS],
];

/** Longer than a timer that a program leaves behind. */
const LEFT_BEHIND_MS = 60;

function limitsFor(expect: Attack["expect"]): Limits {
  if (expect.kind !== "codes" || !expect.codes.includes("LIMIT_TIME")) return TIGHT;
  return { ...TIGHT, ...(expect.codes.length === 1 ? SHORT : LONGER) };
}

for (const engine of ENGINES) {
  describe(`additional attacks on ${engine}`, () => {
    let sandbox: EscapeSandbox;
    let canaries: Canaries;
    before(async () => {
      canaries = await plantCanaries();
      // One engine runs behind the launcher alone; `auto` starts on the same one behind namespaces.
      sandbox = await openEscapeSandbox(await confineAt(engine, LEVELS[0], engine === "quickjs" ? true : undefined));
    });
    after(async () => {
      await sandbox[Symbol.asyncDispose]();
      await canaries[Symbol.asyncDispose]();
    });

    for (const [group, attacks] of GROUPS) {
      for (const { cannot, code, expect } of attacks) {
        test(`${engine}, ${group}: a program cannot ${cannot}`, async (context) => {
          const limits = limitsFor(DIFFERENCES[engine][cannot]?.expect ?? expect);
          const run = await sandbox.run(toProgram("", code, canaries), limits);
          assert.equal(run.logs[0]?.text ?? describeEnding(run), MARKER);
          const difference = DIFFERENCES[engine][cannot];
          if (difference) await checkDifference(difference, sandbox, context);
          assertEnding(run, difference?.expect ?? expect);
          assert.deepEqual([...findLeaks(run, canaries.values), ...findPaths(run), ...findFloods(run)], []);
          assert.ok(run.tookMs < limits.wallMs + LATE_MS, `took ${run.tookMs} ms`);
          assert.deepEqual(await sandbox.value('return [await tools.echo({ a: "x" }), [1].map(String)]'), [
            { a: "x" },
            ["1"],
          ]);
        });
      }
    }

    test(`a log line on ${engine} shows exactly what the program wrote`, async () => {
      const lines = ["a\0b", "\ud800\0x", "\ufffd", "\udc00\ud800\0\0", "\u2028\n"];
      const run = await sandbox.run(`for (const line of ${JSON.stringify(lines)}) console.log(line);`);
      assert.deepEqual(
        run.logs.map(({ text }) => text),
        lines.map((line) => line.toWellFormed()),
      );
    });

    test(`a program on ${engine} cannot make a call after its end`, async () => {
      const run = await sandbox.run('setTimeout(() => tools.echo("late"), 20); return 1;');
      await sleep(LEFT_BEHIND_MS);
      assert.deepEqual([run.ending, run.calls], [{ kind: "returned", value: 1 }, []]);
    });

    test(`a program on ${engine} makes a call from a timer before its end`, async () => {
      const run = await sandbox.run('await new Promise((done) => setTimeout(() => done(tools.echo("in time")), 20));');
      assert.deepEqual([run.ending, run.calls], [{ kind: "returned", value: undefined }, ["tools.echo"]]);
    });
  });
}

describe("the list of differences between engines", () => {
  const differences = ENGINES.flatMap((engine) => Object.entries(DIFFERENCES[engine]));

  test("every difference between engines names an attack or a case of the corpus", () => {
    const names = [
      ...GROUPS.flatMap(([, attacks]) => attacks.map(({ cannot }) => cannot)),
      ...parseCorpus().cases.map(({ id }) => id),
    ];
    assert.deepEqual(
      differences.map(([name]) => name).filter((name) => !names.includes(name)),
      [],
    );
  });

  test("the proof of every difference fails on an engine that has the feature", async () => {
    await using sandbox = await openEscapeSandbox("process");
    const proofs = new Set(differences.flatMap(([, { proof }]) => proof ?? []));
    assert.deepEqual(await sandbox.value(`return [${[...proofs].join()}]`), Array(proofs.size).fill(false));
  });
});
