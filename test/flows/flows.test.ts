/** The data-flow guard from outside: honest programs pass, what was read does not leave, and an operator can say otherwise. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";

import { HONEST_PROGRAMS } from "./honest-programs.ts";
import { HOSTILE_FLOWS } from "./hostile-flows.ts";
import { openOffice } from "./office.ts";

const office = await openOffice();
const unguarded = await openOffice({ flows: "allow" });
after(async () => {
  await office[Symbol.asyncDispose]();
  await unguarded[Symbol.asyncDispose]();
});

describe("an honest program", () => {
  test("is one of fifty", () => assert.equal(HONEST_PROGRAMS.length, 50));
  for (const { does, code, sends } of HONEST_PROGRAMS) {
    test(`that ${does} passes`, async () => {
      const before = office.sent().length;
      const { state, error } = await office.run(`honest ${does}`, code);
      assert.deepEqual([state, error, office.sent().length - before], ["completed", undefined, sends]);
    });
  }
});

describe("what was read does not leave", () => {
  test("in any of more than thirty ways", () => assert.ok(HOSTILE_FLOWS.length >= 30, String(HOSTILE_FLOWS.length)));
  for (const flow of HOSTILE_FLOWS) {
    test(`through ${flow.through}, though it would without the guard`, async () => {
      const before = [office.sent().length, unguarded.sent().length];
      await flow.run(office, `hostile ${flow.through}`);
      await flow.run(unguarded, `hostile ${flow.through}`);
      const [guarded = 0, open = 0] = [office, unguarded].map((one, at) => one.sent().length - (before[at] ?? 0));
      assert.deepEqual([guarded, open > 0], [0, true]);
    });
  }
});
