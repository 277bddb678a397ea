/** Which calls leave while the types of their program are still checked, and what the verdict does to the others. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { TOOLS, createTool, known, openTestBridge, traceOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import type { TestBridgeOptions } from "../../../test/fixtures/bridge/test-bridge.ts";
import { GloveboxError, parseRuleId } from "../../domain/index.ts";
import type { PolicyRule } from "../../domain/index.ts";
import { createBuiltinTool } from "../builtin.ts";
import type { Builtin } from "../builtin.ts";

const ANY = { type: "object" } as const;
const SEARCH: Builtin = { tool: createBuiltinTool("search", ANY), answer: async () => "found" };
const fetched = createBuiltinTool("fetch", ANY);
const FETCH: Builtin = { tool: fetched, answer: async () => "fetched", judge: () => fetched };
const BUILTINS = new Map([SEARCH, FETCH].map((builtin) => [builtin.tool.address, builtin]));

const ASK_ISSUES: PolicyRule = {
  id: known(parseRuleId("ask-issues")),
  decision: "ask",
  tools: ["github.countIssues"],
  effects: [],
  reason: "counting is secret",
};
const ALLOW: PolicyRule = {
  id: known(parseRuleId("allow")),
  decision: "allow",
  tools: ["files.*", "glovebox.*"],
  effects: [],
  reason: "",
};

const WRONG = new GloveboxError("PROGRAM_TYPES", "The API has no tool files.raed", {
  hint: "Did you mean files.read?",
});

async function open(options: TestBridgeOptions = {}) {
  const verdict = Promise.withResolvers<void>();
  verdict.promise.catch(() => undefined);
  let isKnown = false;
  const opened = await openTestBridge({
    rules: [ALLOW, ASK_ISSUES],
    tools: [...TOOLS, createTool("files.guess", { effect: "unknown" })],
    builtins: BUILTINS,
    whenChecked: () => (isKnown ? undefined : verdict.promise),
    ...options,
  });
  const fit = (): void => {
    isKnown = true;
    verdict.resolve();
  };
  return { ...opened, fit, fail: () => verdict.reject(WRONG) };
}

/** `waits` while the call has no reply although everything else had its turn. */
async function look(reply: Promise<{ readonly ok: boolean }>): Promise<string> {
  return Promise.race([reply.then(({ ok }) => (ok ? "answered" : "refused")), sleep(100, "waits")]);
}

describe("a call before the verdict about the types of its program", () => {
  for (const tool of ["files.read", "glovebox.search"])
    it(`of ${tool} leaves at once, because it only reads`, async () => {
      const { bridge } = await open();
      assert.equal((await bridge.call(tool, "{}")).ok, true);
    });
  for (const tool of ["files.write", "files.remove", "files.guess", "glovebox.fetch"])
    it(`of ${tool} waits, leaves when the types fit, and is refused when they do not`, async () => {
      const right = await open();
      const reply = right.bridge.call(tool, "{}");
      assert.equal(await look(reply), "waits");
      assert.deepEqual(
        right.steps.filter((step) => step !== "decide"),
        [],
        "nothing was recorded and nothing left",
      );
      right.fit();
      assert.equal((await reply).ok, true);
      const wrong = await open();
      const refused = wrong.bridge.call(tool, "{}");
      assert.equal(await look(refused), "waits");
      wrong.fail();
      const answer = await refused;
      assert.deepEqual(answer.ok ? undefined : [answer.error.code, answer.error.hint], [
        "PROGRAM_TYPES",
        "Did you mean files.read?",
      ]);
      assert.equal(wrong.steps.includes("invoke"), false);
    });
  it("that needs approval waits before anybody is asked, and is asked about afterwards", async () => {
    const { bridge, fit } = await open();
    const reply = bridge.call("github.countIssues", "{}");
    assert.equal(await look(reply), "waits");
    fit();
    const answer = await reply;
    assert.equal(answer.ok ? undefined : answer.error.code, "POLICY_APPROVAL_PENDING");
  });
  it("that is refused for its types is in the trace and in the ledger", async () => {
    const { bridge, ledger, fail } = await open();
    const [read, write] = [bridge.call("files.read", "{}"), bridge.call("files.write", "{}")];
    await read;
    fail();
    await write;
    const [first, second] = traceOf(bridge);
    assert.deepEqual([first?.tool, first?.outcome], ["files.read", "ok"]);
    assert.deepEqual([second?.tool, second?.decision, second?.outcome], ["files.write", "allow", "denied"]);
    const records = (await ledger()).map(({ action, subject }) => [action, subject]);
    assert.deepEqual(records, [
      ["call.intended", "files.read"],
      ["call.ended", "files.read"],
      ["call.ended", "files.write"],
    ]);
  });
  it("ends without having left when the program ends first", async () => {
    const { bridge, ended, fit, steps } = await open();
    const reply = bridge.call("files.write", "{}");
    assert.equal(await look(reply), "waits");
    ended.abort(new GloveboxError("REQUEST_CANCELLED", "The program has ended"));
    const answer = await reply;
    assert.equal(answer.ok ? undefined : answer.error.code, "REQUEST_CANCELLED");
    fit();
    assert.equal(steps.includes("invoke"), false);
  });
  it("of a dry run waits too, and is answered from its schema afterwards", async () => {
    const { bridge, fit, steps } = await open({ dryRun: { hide: (text) => text } });
    const reply = bridge.call("files.write", "{}");
    assert.equal(await look(reply), "waits");
    fit();
    assert.equal((await reply).ok, true);
    assert.equal(steps.includes("invoke"), false);
  });
});
