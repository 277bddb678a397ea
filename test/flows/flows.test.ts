/**
 * The data-flow guard from outside: honest programs pass, data that was read does not leave, and an operator can allow
 * it.
 */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";

import { HONEST_PROGRAMS } from "./honest-programs.ts";
import { HOSTILE_FLOWS } from "./hostile-flows.ts";
import { openFlowGateway } from "./flow-gateway.ts";

const gateway = await openFlowGateway();
const unanalyzed = await openFlowGateway({}, { enabled: false });
const unguarded = await openFlowGateway({ flows: "allow" });
after(async () => {
  await gateway[Symbol.asyncDispose]();
  await unanalyzed[Symbol.asyncDispose]();
  await unguarded[Symbol.asyncDispose]();
});

describe("honest programs with the data-flow guard", () => {
  test("there are at least fifty honest programs", () => assert.equal(HONEST_PROGRAMS.length, 51));
  for (const { does, code, sends } of HONEST_PROGRAMS) {
    test(`a program that ${does} passes the data-flow guard`, async () => {
      const before = gateway.sent().length;
      const { state, error } = await gateway.run(`honest ${does}`, code);
      assert.deepEqual([state, error, gateway.sent().length - before], ["completed", undefined, sends]);
    });
  }
});

describe("hostile programs with the data-flow guard", () => {
  test("there are at least thirty hostile flows", () =>
    assert.ok(HOSTILE_FLOWS.length >= 30, String(HOSTILE_FLOWS.length)));
  for (const flow of HOSTILE_FLOWS) {
    test(`data does not leave through ${flow.through}, although it would without the guard`, async () => {
      const gateways = [gateway, unanalyzed, unguarded];
      const before = gateways.map((one) => one.sent().length);
      for (const one of gateways) await flow.run(one, `hostile ${flow.through}`);
      const [guarded, plain, open = 0] = gateways.map((one, at) => one.sent().length - (before[at] ?? 0));
      assert.deepEqual([guarded, plain, open > 0], [0, 0, true]);
    });
  }
});
