/** A dry run: which calls are made, which are only listed, and that listed calls reach no upstream. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { isJsonObject, parseRuleId } from "../domain/index.ts";
import type { Json, JsonSchema, PolicyRule, Tool } from "../domain/index.ts";
import { createTool, known, openTestBridge } from "../../test/fixtures/bridge/test-bridge.ts";
import type { TestBridgeOptions } from "../../test/fixtures/bridge/test-bridge.ts";

const rule = (decision: PolicyRule["decision"], tool: string): PolicyRule => ({
  id: known(parseRuleId(decision)),
  decision,
  tools: [tool],
  effects: [],
  reason: "so",
});
const FALSE: JsonSchema = { enum: [false] };

/** `hide` stands for what takes secrets out. */
function openDry(options: TestBridgeOptions = {}) {
  const taken: string[] = [];
  const dryRun = { hide: (text: string) => text.replaceAll("s3cret", "[hidden]") };
  const take = async ({ address }: Tool): Promise<unknown> => taken.push(address);
  return openTestBridge({ dryRun, take, ...options }).then((test) => ({ ...test, taken }));
}

describe("a dry run", () => {
  it("makes reads and charges them to quotas", async () => {
    const { bridge, steps, taken } = await openDry();
    assert.deepEqual(await bridge.call("files.read", "{}"), { ok: true, json: '{"ok":true}' });
    assert.deepEqual([steps.includes("invoke"), taken, bridge.dryRun()], [true, ["files.read"], { writes: [] }]);
  });
  it("lists calls that may change something, and neither makes nor charges them", async () => {
    const tools = (["write", "destroy", "unknown"] as const).map((effect) => createTool(`files.${effect}`, { effect }));
    const { bridge, steps, taken } = await openDry({ tools });
    for (const { address } of tools) {
      const reply = await bridge.call(address, '{"path":"/a"}');
      assert.deepEqual(reply, { ok: true, json: `"dry run: ${address} was not called"` });
    }
    assert.deepEqual([steps.includes("invoke"), taken], [false, []]);
    assert.deepEqual(bridge.dryRun()?.writes, [
      { seq: 1, tool: "files.write", effect: "write", decision: "allow", args: { path: "/a" } },
      { seq: 2, tool: "files.destroy", effect: "destroy", decision: "ask", args: { path: "/a" } },
      { seq: 3, tool: "files.unknown", effect: "unknown", decision: "allow", args: { path: "/a" } },
    ]);
    const traced = bridge.records().map(({ outcome, decision, dryRun }) => [outcome, decision, dryRun]);
    assert.deepEqual(traced, [
      ["ok", "allow", true],
      ["ok", "ask", true],
      ["ok", "allow", true],
    ]);
  });
  it("makes the same calls when the dry run is off", async () => {
    const { bridge, steps } = await openTestBridge();
    assert.deepEqual(await bridge.call("files.write", "{}"), { ok: true, json: '{"ok":true}' });
    assert.deepEqual([steps.includes("invoke"), bridge.dryRun()], [true, undefined]);
    assert.equal(bridge.records()[0]?.dryRun, undefined);
  });
  it("refuses a call that policy denies, and does not list it", async () => {
    const { bridge, steps } = await openDry({ rules: [rule("deny", "files.write")] });
    const reply = await bridge.call("files.write", "{}");
    assert.equal(reply.ok ? "" : reply.error.code, "POLICY_DENIED");
    assert.deepEqual([steps.includes("invoke"), bridge.dryRun()], [false, { writes: [] }]);
  });
  it("a dry run does not make a read that needs approval", async () => {
    const { bridge, steps } = await openDry({ rules: [rule("ask", "files.read")] });
    assert.equal((await bridge.call("files.read", "{}")).ok, true);
    assert.equal(steps.includes("invoke"), false);
    const [listed] = bridge.dryRun()?.writes ?? [];
    assert.deepEqual(listed, { seq: 1, tool: "files.read", effect: "read", decision: "ask", args: {} });
  });
  it("lists calls that an earlier run of its program skipped, without the arguments", async () => {
    const { bridge } = await openDry();
    const record = { seq: 1, tool: "files.write", effect: "write", decision: "allow", outcome: "ok", ms: 1 } as const;
    bridge.restore({ record: { ...record, dryRun: true } });
    bridge.restore({ record: { ...record, seq: 2, effect: "read" } });
    await bridge.call("files.write", "{}", 3);
    assert.deepEqual(bridge.dryRun()?.writes, [
      { seq: 1, tool: "files.write", effect: "write", decision: "allow" },
      { seq: 3, tool: "files.write", effect: "write", decision: "allow", args: {} },
    ]);
  });
  it("refuses wrong arguments", async () => {
    const input = { type: "object", required: ["path"] };
    const { bridge } = await openDry({ tools: [createTool("files.write", { effect: "write", input })] });
    const reply = await bridge.call("files.write", "{}");
    assert.equal(reply.ok ? "" : reply.error.code, "TOOL_ARGUMENTS_INVALID");
    assert.deepEqual(bridge.dryRun(), { writes: [] });
  });
  it("a dry run is marked in the records of its calls", async () => {
    const test = await openDry();
    await test.bridge.call("files.read", "{}");
    await test.bridge.call("files.write", "{}");
    test.ended.abort();
    await test.bridge.recorded();
    const marks = (await test.ledger()).map(({ action, subject, detail }) => [
      action,
      subject,
      isJsonObject(detail) ? detail["dryRun"] : undefined,
    ]);
    assert.deepEqual(marks, [
      ["call.intended", "files.read", undefined],
      ["call.ended", "files.read", undefined],
      ["call.intended", "files.write", true],
      ["call.ended", "files.write", true],
    ]);
  });
});

describe("the answer to a skipped call", () => {
  const answerOf = async (change: Partial<Tool>): Promise<Json> => {
    const { bridge, steps } = await openDry({ tools: [createTool("files.write", { effect: "write", ...change })] });
    const reply = await bridge.call("files.write", "{}");
    assert.equal(steps.includes("invoke"), false);
    return reply.ok ? JSON.parse(reply.json) : reply.error.code;
  };
  it("fits the output schema, even one that allows only false or null", async () => {
    const output = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
    assert.deepEqual(await answerOf({ output }), { id: 1 });
    assert.deepEqual(await answerOf({ output: FALSE }), false);
    assert.deepEqual(await answerOf({ output: { type: "null" } }), null);
  });
  it("the answer to a skipped call has the learned shape if the server declares no output schema", async () => {
    assert.deepEqual(await answerOf({ learned: { type: "object", properties: { n: { type: "number" } } } }), { n: 1 });
  });
  it("the answer to a skipped call is an error if no value fits, and the call is still listed", async () => {
    const tools = [createTool("files.write", { effect: "write", output: { allOf: [{ type: "null" }, FALSE] } })];
    const { bridge } = await openDry({ tools });
    const reply = await bridge.call("files.write", "{}");
    assert.equal(reply.ok ? "" : reply.error.code, "UPSTREAM_RESULT_INVALID");
    assert.equal(bridge.dryRun()?.writes.length, 1);
  });
  it("the answer to a skipped call comes from the builtin if it has one, unless the builtin refuses the call", async () => {
    const tool = createTool("glovebox.send", { effect: "write" });
    const never = (): never => assert.fail("sent");
    const builtin = { tool, judge: () => tool, answer: never, answerDryRun: () => ({ status: 200 }) };
    const { bridge, taken } = await openDry({ builtins: new Map([[tool.address, builtin]]) });
    assert.deepEqual(await bridge.call("glovebox.send", "{}"), { ok: true, json: '{"status":200}' });
    assert.deepEqual(taken, []);
    const refusing = { ...builtin, answerDryRun: never };
    const other = await openDry({ builtins: new Map([[tool.address, refusing]]) });
    assert.equal((await other.bridge.call("glovebox.send", "{}")).ok, false);
    assert.deepEqual(other.bridge.dryRun(), { writes: [] });
  });
});

describe("the listed arguments", () => {
  const listed = async (args: Json): Promise<Json | undefined> => {
    const { bridge } = await openDry();
    await bridge.call("files.write", JSON.stringify(args));
    return bridge.dryRun()?.writes[0]?.args;
  };
  it("contain no secret, not even part of one that is cut", async () => {
    assert.deepEqual(await listed({ a: `${"x".repeat(497)}s3cret` }), { a: `${"x".repeat(497)}[hi…` });
    assert.deepEqual(await listed({ s3cret: ["s3cret"] }), { "[hidden]": ["[hidden]"] });
  });
  it("contain strings of up to 500 characters whole", async () => {
    assert.deepEqual(await listed({ a: "x".repeat(500) }), { a: "x".repeat(500) });
    assert.deepEqual(await listed({ a: "x".repeat(501) }), { a: `${"x".repeat(500)}…` });
  });
  it("the listed arguments are left out if they are too long, alone or together", async () => {
    const many = (count: number): Json => ({ ab: Array.from({ length: count }, () => 1) });
    const long = "x".repeat(400);
    assert.notEqual(await listed(many(1_996)), undefined);
    assert.equal(await listed(many(1_997)), undefined);
    const { bridge } = await openDry({ limits: { calls: 1_000 } });
    for (let call = 0; call < 200; call += 1) await bridge.call("files.write", JSON.stringify({ long }));
    const shown = bridge.dryRun()?.writes.filter(({ args }) => args !== undefined) ?? [];
    assert.deepEqual([bridge.dryRun()?.writes.length, shown.length], [200, Math.floor(64_000 / 411)]);
  });
});
