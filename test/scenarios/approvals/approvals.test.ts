/** Approvals from outside: the command line with and without a running gateway. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { canonicalJson } from "../../../src/domain/index.ts";
import type { Approval, Json } from "../../../src/domain/index.ts";
import { requestApprovalsIn } from "../../fixtures/approval-gateway.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { makeUntypedFolder, probe, runGlovebox, serveFor } from "../../fixtures/product.ts";
import { openAdminSession } from "../../fixtures/admin-session.ts";

const CONFIG = { mcpServers: {} };

async function json(folder: string, ...args: readonly string[]): Promise<Record<string, Json>> {
  const { code, stdout, stderr } = await runGlovebox([...args, "--json"], { folder });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const statesOf = (approvals: Json | undefined): readonly unknown[] =>
  (approvals as unknown as readonly Approval[]).map(({ id, state }) => [id, state]);

function only<Value>([first]: readonly Value[]): Value {
  assert.ok(first !== undefined);
  return first;
}

describe("approvals on the command line", () => {
  test("approvals lists pending calls, shows one in full, and accepts one decision", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const [first, second] = await requestApprovalsIn(folder, { args: [{ amount: 5 }, { amount: 6 }] });
    assert.ok(first && second);
    const listed = await runGlovebox(["approvals"], { folder });
    assert.match(
      listed.stdout,
      new RegExp(`^${second.id} pending, expires in 6 d 23 h: shop\\.pay \\(write\\) for local`),
    );
    assert.equal(listed.stdout.split("\n").length, 5);
    const shown = await runGlovebox(["approvals", "show", first.id], { folder });
    assert.match(
      shown.stdout,
      /"amount": 5\n[^]*> {4}2 {2}await shop\.pay\(input\);\n[^]*1 shop\.list \(read\): allow, ok\n/,
    );
    const approved = await runGlovebox(["approve", first.id, "--note", "fine"], { folder });
    assert.equal(approved.code, 0);
    assert.match(approved.stderr, /"amount": 5/);
    assert.equal(
      approved.stdout,
      `${first.id}: approved for this call only\n${first.execution}: paused: 1 more of its calls wait for approval\n`,
    );
    const again = await runGlovebox(["reject", first.id, "--reason", "no"], { folder });
    assert.equal(again.code, 1);
    assert.match(again.stderr, new RegExp(`${first.id} was approved by operator at .* \\[REQUEST_CONFLICT\\]`));
    assert.deepEqual(statesOf((await json(folder, "approvals"))["approvals"]), [[second.id, "pending"]]);
    const all = await json(folder, "approvals", "--all");
    assert.deepEqual(statesOf(all["approvals"]), [
      [second.id, "pending"],
      [first.id, "approved"],
    ]);
  });

  test("approve with --json and --yes decides for all equal calls, and revoke takes it back", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const [first, second] = await requestApprovalsIn(folder, { args: [{ amount: 5 }, { amount: 6 }] });
    assert.ok(first && second);
    const decided = await runGlovebox(["approve", first.id, "--yes", "--scope", "execution", "--json"], { folder });
    assert.deepEqual([decided.code, decided.stderr], [0, ""]);
    const { approval } = JSON.parse(decided.stdout) as { approval: Approval };
    assert.deepEqual([approval.state, approval.scope, approval.decidedBy], ["approved", "execution", "operator"]);
    assert.deepEqual(await json(folder, "approvals"), { approvals: [] });
    const revoked = await json(folder, "approvals", "revoke", second.id);
    assert.equal((revoked["approval"] as unknown as Approval).state, "revoked");
    const { records } = await json(folder, "audit", "--action", "approval");
    const actions = (records as { action: string; actor: string }[]).map(({ action, actor }) => `${actor} ${action}`);
    const asked = "local approval.requested";
    const said = "operator approval.decided";
    assert.deepEqual(actions, [asked, asked, said, said, "operator approval.revoked"]);
    assert.doesNotMatch(canonicalJson(records ?? null), /amount/);
  });

  test("approvals refuses an invalid id and an invalid scope, each with its own exit code", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    for (const [args, code] of [
      [["approve", `ap_${"0".repeat(24)}`], 1],
      [["approvals", "show", "nothing"], 1],
      [["approve", `ap_${"0".repeat(24)}`, "--scope", "ever"], 2],
      [["reject"], 2],
    ] as const)
      assert.equal((await runGlovebox(args, { folder })).code, code, args.join(" "));
    assert.equal((await runGlovebox(["approvals"], { folder })).stderr, "No call waits for approval\n");
  });

  test("approvals masks secrets and escapes control characters", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const secret = "correct-horse-battery";
    assert.equal((await runGlovebox(["secrets", "set", "KEY"], { folder, input: secret })).code, 0);
    const source = `// ${secret} \u202e\nawait shop.pay({});`;
    const { id } = only(await requestApprovalsIn(folder, { args: [{ key: secret, text: "\u001b[2J\u200b" }], source }));
    for (const args of [["approvals"], ["approvals", "--json"], ["approvals", "show", id], ["approve", id]]) {
      const { stdout, stderr } = await runGlovebox(args, { folder });
      assert.doesNotMatch(stdout + stderr, /correct-horse|[\u001b\u200b\u202e]/, args.join(" "));
    }
    const { stdout } = await runGlovebox(["approvals", "show", id], { folder });
    assert.match(stdout, /"\\u001b\[2J\\u200b"/);
    assert.match(stdout, /\\u202e\n/);
  });
});

describe("approvals with a running gateway", () => {
  test("the admin API lists approvals and decisions, and can decide", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const { url, admin } = await serveFor(context, folder);
    const headers = await openAdminSession(admin);
    const [first, second] = await requestApprovalsIn(folder, { args: [{ amount: 5 }, { amount: 6 }] });
    assert.ok(first && second);
    const send = async (path: string, body?: object): Promise<Record<string, Json>> => {
      const sent = { ...(body && { method: "POST", body: JSON.stringify(body) }), headers };
      return (await fetch(new URL(`/api/${path}`, url), sent)).json() as never;
    };
    assert.equal((await runGlovebox(["approve", first.id], { folder })).code, 0);
    assert.deepEqual(statesOf((await send("approvals?all=true"))["approvals"]), [
      [second.id, "pending"],
      [first.id, "approved"],
    ]);
    const refused = await send(`approvals/${first.id}`, { verdict: "reject" });
    assert.equal((refused["error"] as { code?: string }).code, "REQUEST_CONFLICT");
    const decided = await send(`approvals/${second.id}`, { verdict: "reject", note: "no" });
    assert.equal((decided["approval"] as unknown as Approval).state, "rejected");
    assert.deepEqual(await json(folder, "approvals"), { approvals: [] });
  });

  test("an agent that has an approval id cannot decide, but the operator can", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const { mcp, url } = await serveFor(context, folder);
    const { id, execution } = only(await requestApprovalsIn(folder, { args: [{ amount: 5 }] }));
    const client = await connect(context, mcp, { era: "2025-11-25", mode: "legacy" });
    const call = (name: string, args: object) => client.callTool({ name, arguments: { ...args } }).catch(String);
    for (const [name, args] of [
      ["approve", { id }],
      ["approvals", { id, verdict: "approve" }],
      ["resume", { execution, approve: id }],
      ["execute", { code: "return 1", approve: id }],
    ] as const)
      await call(name, args);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["search", "describe", "execute", "resume"],
    );
    const code = `return Object.keys(glovebox).filter((name) => /approv|decide/.test(name))`;
    const found = (await client.callTool({ name: "execute", arguments: { code } })).structuredContent;
    assert.deepEqual((found as Record<string, unknown>)["value"], []);
    const posted = await fetch(new URL(`/api/approvals/${id}`, url), { method: "POST", body: '{"verdict":"approve"}' });
    assert.equal(posted.status, 401);
    assert.deepEqual(statesOf((await json(folder, "approvals"))["approvals"]), [[id, "pending"]]);
    assert.equal((await runGlovebox(["approve", id], { folder })).code, 0);
    assert.deepEqual(statesOf((await json(folder, "approvals", "--all"))["approvals"]), [[id, "approved"]]);
  });

  test("a gateway suspends a program that needs approval, shows it with its line and plan, and resumes it once approved", async (context) => {
    const rules = [{ id: "careful", decision: "ask", tools: ["probe.echo"], reason: "look first" }];
    const config = { mcpServers: { probe: probe() }, approvals: { graceMs: 0 }, policy: { rules } };
    const folder = makeUntypedFolder(context, config);
    const { mcp } = await serveFor(context, folder);
    const client = await connect(context, mcp, { era: "2025-11-25", mode: "legacy" });
    const call = async (name: string, args: object): Promise<Record<string, unknown>> =>
      ((await client.callTool({ name, arguments: { ...args } })) as { structuredContent: Record<string, unknown> })
        .structuredContent;
    const run = (code: string) => call("execute", { code });
    const paused = await run("await probe.about({});\nreturn await probe.echo({ a: 1 });");
    assert.equal(paused["state"], "paused");
    const [id] = paused["approvals"] as readonly string[];
    assert.ok(id !== undefined);
    const shown = await runGlovebox(["approvals", "show", id], { folder });
    assert.match(shown.stdout, /> {4}2 {2}return await probe\.echo\(\{ a: 1 \}\);/);
    assert.match(
      shown.stdout,
      /can call:\n {2}probe\.about \(.*\n {2}probe\.echo \(.*\ndid so far:\n {2}1 probe\.about/,
    );
    const approved = await runGlovebox(["approve", id], { folder });
    assert.match(approved.stdout, /approved for this call only\nex_[0-9a-f]{24}: /);
    const { execution } = paused;
    let resumed = await call("resume", { execution });
    while (resumed["state"] === "paused" || resumed["state"] === "running")
      resumed = await call("resume", { execution });
    assert.deepEqual([resumed["state"], resumed["value"]], ["completed", { a: 1 }]);

    const second = await run(`try { await probe.echo({ a: 2 }) } catch ({ code, message }) { return [code, message] }`);
    const [other] = second["approvals"] as readonly string[];
    assert.ok(other !== undefined);
    assert.equal((await runGlovebox(["reject", other, "--reason", "not today"], { folder })).code, 0);
    let refused = await call("resume", { execution: second["execution"] });
    while (refused["state"] !== "completed") refused = await call("resume", { execution: second["execution"] });
    const [code, message] = refused["value"] as readonly string[];
    assert.equal(code, "POLICY_APPROVAL_REJECTED");
    assert.match(message ?? "", /rejected by operator: not today/);
  });
});
