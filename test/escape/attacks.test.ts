/** Attacks beyond the corpus, each with proof that it began, the one ending that it may have, and a healthy run after it. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ENGINES } from "../../src/sandbox/fixtures/engines.ts";
import type { Attack } from "./attacks/attack.ts";
import { PRESSURE_ATTACKS } from "./attacks/pressure.ts";
import { REALM_ATTACKS } from "./attacks/realm.ts";
import { TAMPER_ATTACKS } from "./attacks/tamper.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import type { Canaries } from "./fixtures/canaries.ts";
import { parseCorpus, toProgram } from "./fixtures/corpus.ts";
import { DIFFERENCES, checkDifference } from "./fixtures/engine-differences.ts";
import { LATE_MS, LEVELS, MARKER, TIGHT, confineAt, openEscapeSandbox } from "./fixtures/escape-sandbox.ts";
import type { EscapeSandbox } from "./fixtures/escape-sandbox.ts";
import { assertEnding, findFloods, findLeaks, findPaths, describeEnding } from "./fixtures/check-run.ts";

const GROUPS: readonly (readonly [string, readonly Attack[]])[] = [
  ["its reach", REALM_ATTACKS],
  ["the guest's own side", TAMPER_ATTACKS],
  ["the limits", PRESSURE_ATTACKS],
];

/** Long enough for a timer that a program left behind. */
const LEFT_BEHIND_MS = 60;

/** What is to end by another limit has time to reach it on a busy machine. */
function wallFor(expect: Attack["expect"]): number {
  return expect.kind === "codes" && expect.codes.includes("LIMIT_TIME") ? TIGHT.wallMs : 5 * TIGHT.wallMs;
}

for (const engine of ENGINES) {
  describe(`attacks of our own on ${engine}`, () => {
    let sandbox: EscapeSandbox;
    let canaries: Canaries;
    before(async () => {
      canaries = await plantCanaries();
      sandbox = await openEscapeSandbox(await confineAt(engine, LEVELS[0]));
    });
    after(async () => {
      await sandbox[Symbol.asyncDispose]();
      await canaries[Symbol.asyncDispose]();
    });

    for (const [group, attacks] of GROUPS) {
      for (const { cannot, code, expect } of attacks) {
        test(`${group}: a program cannot ${cannot}`, async (context) => {
          const wallMs = wallFor(DIFFERENCES[engine][cannot]?.expect ?? expect);
          const run = await sandbox.run(toProgram("", code, canaries), { wallMs });
          assert.equal(run.logs[0]?.text ?? describeEnding(run), MARKER);
          const difference = DIFFERENCES[engine][cannot];
          if (difference) await checkDifference(difference, sandbox, context);
          assertEnding(run, difference?.expect ?? expect);
          assert.deepEqual([...findLeaks(run, canaries.values), ...findPaths(run), ...findFloods(run)], []);
          assert.ok(run.tookMs < wallMs + LATE_MS, `took ${run.tookMs} ms`);
          assert.deepEqual(await sandbox.value('return [await tools.echo({ a: "x" }), [1].map(String)]'), [
            { a: "x" },
            ["1"],
          ]);
        });
      }
    }

    test("a line shows what the program wrote, whatever is in it", async () => {
      const lines = ["a\0b", "\ud800\0x", "\ufffd", "\udc00\ud800\0\0", "\u2028\n"];
      const run = await sandbox.run(`for (const line of ${JSON.stringify(lines)}) console.log(line);`);
      assert.deepEqual(
        run.logs.map(({ text }) => text),
        lines.map((line) => line.toWellFormed()),
      );
    });

    test("no call leaves a program after its end", async () => {
      const run = await sandbox.run('setTimeout(() => tools.echo("late"), 20); return 1;');
      await sleep(LEFT_BEHIND_MS);
      assert.deepEqual([run.ending, run.calls], [{ kind: "returned", value: 1 }, []]);
    });

    test("the same call before its end is made", async () => {
      const run = await sandbox.run('await new Promise((done) => setTimeout(() => done(tools.echo("in time")), 20));');
      assert.deepEqual([run.ending, run.calls], [{ kind: "returned", value: undefined }, ["tools.echo"]]);
    });
  });
}

describe("a difference between engines", () => {
  const differences = ENGINES.flatMap((engine) => Object.entries(DIFFERENCES[engine]));

  test("has the name of an attack or a case", () => {
    const names = [
      ...GROUPS.flatMap(([, attacks]) => attacks.map(({ cannot }) => cannot)),
      ...parseCorpus().cases.map(({ id }) => id),
    ];
    assert.deepEqual(
      differences.map(([name]) => name).filter((name) => !names.includes(name)),
      [],
    );
  });

  test("has a proof that fails where nothing is missing", async () => {
    await using sandbox = await openEscapeSandbox("process");
    const proofs = new Set(differences.flatMap(([, { proof }]) => proof ?? []));
    assert.deepEqual(await sandbox.value(`return [${[...proofs].join()}]`), Array(proofs.size).fill(false));
  });
});
