/**
 * Policy from outside: the tools that an agent sees, decisions about calls, and how an operator explains and simulates
 * rules.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { connect } from "../../fixtures/mcp-client.ts";
import {
  makeUntypedFolder,
  parseJsonLines,
  probe,
  runGlovebox,
  serveFor,
  waitForOutput,
} from "../../fixtures/product.ts";

const LEGACY = { era: "2025-11-25", mode: "legacy" } as const;
const RULES = [
  { id: "no-echo", decision: "deny", tools: ["probe.echo"], principals: ["local"], reason: "echo is off" },
  { id: "large", decision: "deny", tools: ["probe.change"], when: [{ path: "amount", min: 100 }] },
  { id: "odd", decision: "ask", servers: ["probe"], tools: ["probe.about"] },
];
const CONFIG = { mcpServers: { probe: probe() }, policy: { rules: RULES } };

interface Answer {
  readonly structuredContent: Record<string, unknown>;
}

function clientOf(client: Awaited<ReturnType<typeof connect>>) {
  const call = async (name: string, args: object): Promise<Record<string, unknown>> =>
    ((await client.callTool({ name, arguments: { ...args } })) as unknown as Answer).structuredContent;
  return {
    call,
    /** The error code, or the value. */
    run: async (code: string): Promise<unknown> => {
      const { error, value } = await call("execute", { code });
      return (error as { code: string } | undefined)?.code ?? value;
    },
  };
}

async function serve(context: TestContext, config: unknown, folder = makeUntypedFolder(context, config)) {
  const { mcp, child } = await serveFor(context, folder);
  const client = await connect(context, mcp, LEGACY);
  return { folder, child, client, ...clientOf(client) };
}

describe("a tool that is denied to agents", () => {
  test("a denied tool is hidden from agents in search, describe and the tool list, and refused when called", async (context) => {
    const { call, run, client, folder } = await serve(context, { ...CONFIG, expose: "both" });
    const names = ((await call("search", { query: "", limit: 50 }))["tools"] as { name: string }[]).map(
      ({ name }) => name,
    );
    assert.deepEqual(names.toSorted(), [
      "probe.about",
      "probe.change",
      "probe.destroy",
      "probe.hang",
      "probe.meet",
      "probe.wait",
    ]);
    const described = await client.callTool({ name: "describe", arguments: { names: ["probe.echo"] } });
    assert.match(JSON.stringify(described), /Unknown name \\+"probe\.echo/);
    const listed = (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.startsWith("probe_"));
    assert.deepEqual(listed.includes("probe_change") && !listed.includes("probe_echo"), true);
    assert.equal(await run("return await probe.echo({})"), "POLICY_DENIED");
    assert.equal(await run("try { await probe.echo({}) } catch (error) { return error.code }"), "POLICY_DENIED");
    assert.equal(await run('return await probe["ec" + "ho"]({})'), "POLICY_DENIED");
    assert.equal(await run("return await probe.change({ amount: 99 }).then(({ done }) => done)"), true);
    assert.equal(await run("return await probe.change({ amount: 100 })"), "POLICY_DENIED");
    assert.equal(await run("return await probe.change({})"), "POLICY_DENIED");
    const { stdout } = await runGlovebox(["audit", "export"], { folder });
    const denied = parseJsonLines(stdout).filter(({ detail }) => Object(detail).decision === "deny");
    assert.deepEqual(
      denied.map(({ subject, detail }) => [subject, Object(detail).rule, Object(detail).server]),
      [
        ...Array.from({ length: 3 }, () => ["probe.echo", "no-echo", "probe"]),
        ...Array.from({ length: 2 }, () => ["probe.change", "large", "probe"]),
      ],
    );
  });
  test("a tool that is denied to agents is available to the operator", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const { stdout } = await runGlovebox(["run", "-", "--json"], {
      folder,
      input: "return await probe.echo({ a: 1 })",
    });
    assert.deepEqual((JSON.parse(stdout) as { value: unknown }).value, { a: 1 });
  });
});

describe("glovebox policy", () => {
  test("glovebox policy lists rules, strictest first, and the profile", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const { code, stdout } = await runGlovebox(["policy"], { folder });
    assert.deepEqual(
      [code, stdout.split("\n")],
      [
        0,
        [
          "profile balanced",
          "deny    no-echo: probe.echo, by local (echo is off)",
          "deny    large: probe.change, when amount from 100 (Rule large of the configuration says deny)",
          "ask     odd: probe.about, of probe (Rule odd of the configuration says ask)",
          "",
        ],
      ],
    );
  });
  test("glovebox policy explains each decision with every rule, and exits as the call would", async (context) => {
    const folder = makeUntypedFolder(context, CONFIG);
    const explain = async (...args: string[]) => {
      const { code, stdout } = await runGlovebox(["policy", "explain", ...args, "--json"], { folder });
      const { decision, rule, rules = [] } = JSON.parse(stdout || "{}") as Record<string, never> & { rules?: object[] };
      return { code, decision, rule, rules };
    };
    const why = "does not apply to probe.change";
    assert.deepEqual(await explain("probe.change", "--args", '{"amount":100}'), {
      code: 4,
      decision: "deny",
      rule: "large",
      rules: [
        { rule: "no-echo", decision: "deny", matches: false, why },
        { rule: "large", decision: "deny", matches: true, why: "amount from 100 holds" },
        { rule: "odd", decision: "ask", matches: false, why },
      ],
    });
    const allowed = await explain("probe.echo", "--principal", "operator");
    assert.deepEqual([allowed.code, allowed.decision, allowed.rule], [0, "allow", "profile:balanced"]);
    const asked = await explain("probe.about");
    assert.deepEqual([asked.code, asked.decision, asked.rule], [3, "ask", "odd"]);
    const unknown = await runGlovebox(["policy", "explain", "probe.chnage"], { folder });
    assert.deepEqual([unknown.code, /Did you mean probe\./.test(unknown.stderr)], [1, true]);
    assert.equal((await runGlovebox(["policy", "explain", "probe.echo", "--args", "5"], { folder })).code, 2);
  });
  test("glovebox policy simulates a rule file over past calls, and reports what cannot be decided", async (context) => {
    const folder = makeUntypedFolder(context, { mcpServers: { probe: probe() } });
    const input =
      "await probe.echo({}); await probe.change({ amount: 1 }); await probe.change({}); await probe.about({})";
    await runGlovebox(["run", "-"], { folder, input });
    const rules = [
      { id: "no-echo", decision: "deny", tools: ["probe.echo"] },
      { id: "large", decision: "ask", tools: ["probe.change"], when: [{ path: "amount", min: 100 }] },
    ];
    writeFileSync(join(folder, "proposed.json"), JSON.stringify({ rules }));
    const simulate = async (...more: string[]) => {
      const { code, stdout } = await runGlovebox(["policy", "simulate", "proposed.json", "--json", ...more], {
        folder,
      });
      return [code, JSON.parse(stdout) as unknown];
    };
    const of = { principal: "operator", from: "allow" };
    assert.deepEqual(await simulate("--since", "1h"), [
      0,
      {
        calls: 4,
        same: 1,
        changed: [{ ...of, tool: "probe.echo", to: "deny", rule: "no-echo", calls: 1 }],
        cannotTell: [{ ...of, tool: "probe.change", rules: ["large", "profile:balanced"], calls: 2 }],
      },
    ]);
    assert.deepEqual(await simulate("--since", "2999-01-01"), [0, { calls: 0, same: 0, changed: [], cannotTell: [] }]);
    writeFileSync(join(folder, "proposed.json"), '{ "rules": [{ "decision": "never" }] }');
    const wrong = await runGlovebox(["policy", "simulate", "proposed.json"], { folder });
    assert.deepEqual([wrong.code, /proposed\.json:1:27 rules\[0\]\.decision/.test(wrong.stderr)], [2, true]);
  });
});

test("a running gateway reloads its rule file, keeps the old rules if it is broken, and records each change", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: { probe: probe() }, policy: { file: "rules.json" } });
  const write = (rules: unknown): void => writeFileSync(join(folder, "rules.json"), JSON.stringify({ rules }));
  write([]);
  const { run, child } = await serve(context, undefined, folder);
  const code = "return (await probe.change({})).done";
  const until = async (wanted: unknown): Promise<unknown> => {
    for (let tries = 0; tries < 300; tries += 1) {
      if ((await run(code)) === wanted) return wanted;
      await wait(200);
    }
    return run(code);
  };
  assert.equal(await run(code), true);
  write([{ id: "freeze", decision: "deny", effects: ["write"] }]);
  assert.equal(await until("POLICY_DENIED"), "POLICY_DENIED");
  const warned = waitForOutput(child, /hint: /);
  write([{ id: "freeze", decision: "sometimes" }]);
  assert.match(
    await warned,
    /warning: .*rules\.json:1:\d+ rules\[0\]\.decision: expected one of "allow", "ask", "deny"/,
  );
  assert.equal(await run(code), "POLICY_DENIED");
  const { stdout } = await runGlovebox(["audit", "export"], { folder });
  const records = parseJsonLines(stdout).filter(({ action }) => String(action).startsWith("policy."));
  assert.deepEqual(
    records.map(({ action, detail }) => [action, Object(detail).rules]),
    [
      ["policy.changed", 1],
      ["policy.rejected", undefined],
    ],
  );
});
