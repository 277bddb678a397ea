/** Attacks beyond the corpus, each with proof that it began, the one ending that it may have, and a healthy run after it. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Attack } from "./attacks/attack.ts";
import { PRESSURE_ATTACKS } from "./attacks/pressure.ts";
import { REALM_ATTACKS } from "./attacks/realm.ts";
import { TAMPER_ATTACKS } from "./attacks/tamper.ts";
import { plantCanaries } from "./fixtures/canaries.ts";
import type { Canaries } from "./fixtures/canaries.ts";
import { toProgram } from "./fixtures/corpus.ts";
import { LATE_MS, MARKER, TIGHT, openEscapeSandbox } from "./fixtures/escape-sandbox.ts";
import type { EscapeSandbox, Run } from "./fixtures/escape-sandbox.ts";
import { codeOf, findFloods, findLeaks, findPaths, textOf } from "./fixtures/judge.ts";

const GROUPS: readonly (readonly [string, readonly Attack[]])[] = [
  ["its reach", REALM_ATTACKS],
  ["the guest's own side", TAMPER_ATTACKS],
  ["the limits", PRESSURE_ATTACKS],
];

/** Long enough for a timer that a program left behind. */
const LEFT_BEHIND_MS = 60;

describe("attacks of our own", () => {
  let sandbox: EscapeSandbox;
  let canaries: Canaries;
  before(async () => {
    canaries = await plantCanaries();
    sandbox = await openEscapeSandbox("strict");
  });
  after(async () => {
    await sandbox[Symbol.asyncDispose]();
    await canaries[Symbol.asyncDispose]();
  });

  for (const [group, attacks] of GROUPS) {
    for (const { cannot, code, expect } of attacks) {
      test(`${group}: a program cannot ${cannot}`, async () => {
        const run = await sandbox.run(toProgram("", code, canaries));
        assert.equal(run.logs[0]?.text ?? textOf(run), MARKER);
        assertEnding(run, expect);
        assert.deepEqual([...findLeaks(run, canaries.values), ...findPaths(run), ...findFloods(run)], []);
        assert.ok(run.tookMs < TIGHT.wallMs + LATE_MS, `took ${run.tookMs} ms`);
        assert.deepEqual(await sandbox.value('return [await tools.echo({ a: "x" }), [1].map(String)]'), [
          { a: "x" },
          ["1"],
        ]);
      });
    }
  }

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

function assertEnding(run: Run, expect: Attack["expect"]): void {
  switch (expect.kind) {
    case "value":
      return assert.deepEqual(run.ending, { kind: "returned", value: expect.value });
    case "codes":
      return assert.ok(
        expect.codes.includes(codeOf(run) ?? run.ending.kind),
        `ended with ${codeOf(run)} ${textOf(run)}`,
      );
    case "threw":
      assert.equal(run.ending.kind, "threw");
      return assert.match(textOf(run), expect.threw);
    default:
      return expect satisfies never;
  }
}
