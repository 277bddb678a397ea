/**
 * The call plan against what programs do: each labeled program runs in the sandbox, every call that it makes must be in
 * its plan, and plans name little that no run could reach.
 */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { analyze, planCalls } from "../../src/analysis/index.ts";
import {
  DEFAULT_LIMITS,
  parseConnectorId,
  parseDigest,
  parsePrincipalId,
  parseToolAddress,
} from "../../src/domain/index.ts";
import type { CallPlan, Namespace, Program, Tool, ToolAddress } from "../../src/domain/index.ts";
import { openTestSandbox } from "../../src/sandbox/fixtures/test-sandbox.ts";
import type { TestSandbox } from "../../src/sandbox/fixtures/test-sandbox.ts";
import { PLANNED_PROGRAMS } from "./planned-programs.ts";

function known<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}

const digest = known(parseDigest(`sha256:${"0".repeat(64)}`));

function namespace(name: string, tools: readonly string[]): Namespace {
  return { name, connector: known(parseConnectorId(name)), summary: "", tools };
}

const NAMESPACES = [
  namespace("github", ["closeIssue", "createIssue", "getIssue", "listIssues"]),
  namespace("gitlab", ["createIssue", "listIssues"]),
  namespace("mail", ["list", "send"]),
];

function toolOf(address: ToolAddress, { connector }: Namespace): Tool {
  const effect = /list|get/u.test(address) ? "read" : "write";
  const origin = { kind: "upstream", connector, remoteName: address } as const;
  return { address, origin, summary: "", description: "", input: {}, output: null, effect, digest };
}

const TOOLS: ReadonlyMap<ToolAddress, Tool> = new Map(
  NAMESPACES.flatMap((each) =>
    each.tools.map((name) => {
      const address = known(parseToolAddress(`${each.name}.${name}`));
      return [address, toolOf(address, each)] as const;
    }),
  ),
);

function programOf(source: string): Program {
  const options = { limits: DEFAULT_LIMITS, enabled: true, blockOnError: false, rules: {} };
  const analyzed = analyze(source, { namespaces: NAMESPACES }, options);
  assert.ok(analyzed.ok, source);
  return analyzed.program;
}

const planOf = (source: string): CallPlan =>
  planCalls(programOf(source).calls, { namespaces: NAMESPACES, tools: TOOLS });

const toolsOf = (plan: CallPlan): string => plan.calls.map(({ tool }) => tool).join(" ");

describe("the plans of labeled programs", () => {
  let sandbox: TestSandbox;
  before(async () => {
    sandbox = await openTestSandbox();
  });
  after(() => sandbox.sandbox.close());

  /** The tools that a run asked for; how it ended does not matter. */
  async function callsOf(program: Program): Promise<readonly string[]> {
    const asked = new Set<string>();
    await sandbox.sandbox.run({
      program,
      namespaces: NAMESPACES,
      limits: DEFAULT_LIMITS,
      host: {
        call: async (address) => {
          asked.add(String(address));
          return { ok: true, json: '[{"id":1},{"id":2}]' };
        },
      },
      principal: known(parsePrincipalId("agent")),
      signal: new AbortController().signal,
    });
    return [...asked];
  }

  test("there are at least 60 labeled programs, and most of them call tools", async () => {
    assert.ok(PLANNED_PROGRAMS.length >= 60);
    let calling = 0;
    for (const [source] of PLANNED_PROGRAMS) calling += Math.min(1, (await callsOf(programOf(source))).length);
    assert.ok(calling > PLANNED_PROGRAMS.length * 0.75, String(calling));
  });

  for (const [source] of PLANNED_PROGRAMS) {
    test(`a run calls only tools of the plan: ${source}`, async () => {
      const plan = planOf(source);
      const planned = new Set<string>(plan.calls.map(({ tool }) => tool));
      const surprises = (await callsOf(programOf(source))).filter((tool) => plan.exact && !planned.has(tool));
      assert.deepEqual(surprises, []);
    });
  }
});

test("plans contain every labeled tool, and at least 90 % of their tools are labeled", () => {
  let [right, named] = [0, 0];
  for (const [source, reach] of PLANNED_PROGRAMS) {
    const plan = planOf(source);
    assert.equal(plan.exact, reach !== "everything", source);
    if (!plan.exact) continue;
    const labels = new Set(reach.split(" ").filter(Boolean));
    const planned = plan.calls.map(({ tool }) => tool);
    assert.deepEqual(
      [...labels].filter((label) => !planned.some((tool) => tool === label)),
      [],
      source,
    );
    right += planned.filter((tool) => labels.has(tool)).length;
    named += planned.length;
  }
  assert.ok(right / named >= 0.9, `precision ${right / named}`);
});

test("a plan lists the times, certainty, access, arguments and positions of each call", () => {
  const source = [
    "const issues = await github.listIssues({ state: 'open', labels: ['bug'], page: input.page });",
    "for (const issue of issues) await github.getIssue({ id: issue.id });",
    "if (issues.length > 9) await mail['se' + 'nd']({ to: 'a' });",
    "for (const f of Object.values(gitlab)) await f({});",
  ].join("\n");
  const wide = { access: "computed", times: "many", when: "maybe", at: [{ line: 4, column: 17 }] };
  assert.deepEqual(planOf(source), {
    exact: true,
    calls: [
      {
        tool: "github.getIssue",
        effect: "read",
        access: "literal",
        times: "many",
        when: "maybe",
        at: [{ line: 2, column: 35 }],
      },
      {
        tool: "github.listIssues",
        effect: "read",
        access: "literal",
        times: "once",
        when: "always",
        args: [{ state: "open", labels: ["bug"] }],
        at: [{ line: 1, column: 22 }],
      },
      { tool: "gitlab.createIssue", effect: "write", ...wide },
      { tool: "gitlab.listIssues", effect: "read", ...wide },
      {
        tool: "mail.send",
        effect: "write",
        access: "computed",
        times: "once",
        when: "maybe",
        args: [{ to: "a" }],
        at: [{ line: 3, column: 30 }],
      },
    ],
  });
});

for (const [source, times, when] of [
  ["await github.listIssues({})", "once", "always"],
  ["async () => { await github.listIssues({}) }", "once", "always"],
  ["async function main() { await github.listIssues({}) }", "once", "always"],
  ["const go = async () => { await github.listIssues({}) }; await go()", "once", "always"],
  ["const go = async () => { await github.listIssues({}) }; await go(); await go()", "many", "maybe"],
  ["const { listIssues } = github; await listIssues({})", "once", "always"],
  ["const { listIssues } = github; for (const a of b) await listIssues({})", "many", "maybe"],
  ["if (input) return 1; await github.listIssues({})", "once", "maybe"],
  ["input && await github.listIssues({})", "once", "maybe"],
  ["try { await github.listIssues({}) } catch {}", "once", "always"],
  ["try { f() } catch { await github.listIssues({}) }", "once", "maybe"],
  ["do { await github.listIssues({}) } while (input)", "many", "always"],
  ["await Promise.all(ids.map((id) => github.listIssues({ id })))", "many", "maybe"],
  ["ids.map(github.listIssues)", "many", "maybe"],
  [
    "const go = async function again() { await github.listIssues({}); if (input) await again() }; await go()",
    "many",
    "maybe",
  ],
  ["await (async function again() { await github.listIssues({}); if (input) await again() })()", "many", "maybe"],
  ["await (async function once() { await github.listIssues({}) })()", "once", "always"],
  ["async function unused() { await github.listIssues({}) } return 1", "many", "maybe"],
  ["const main = async () => { await github.listIssues({}) }", "once", "always"],
  ["let a = input; a ??= await github.listIssues({}); return a", "once", "maybe"],
  ["let a = input; a ||= await github.listIssues({}); return a", "once", "maybe"],
  ["let a = input; a &&= await github.listIssues({}); return a", "once", "maybe"],
  ["let a = input; a = await github.listIssues({}); return a", "once", "always"],
  ["return input?.f(await github.listIssues({}))", "once", "maybe"],
  ["return input?.a.b[await github.listIssues({})]", "once", "maybe"],
  ["return input.f(await github.listIssues({}))", "once", "always"],
  ["let s; if (input) s = github; return await s?.listIssues({})", "once", "maybe"],
  ["return await github?.listIssues({})", "once", "always"],
  ["out: { if (input) break out; await github.listIssues({}) } return 1", "once", "maybe"],
  ["out: { await github.listIssues({}); if (input) break out } return 1", "once", "always"],
  ["out: { if (input) break out } await github.listIssues({}); return 1", "once", "always"],
  ["do { if (input) break; await github.listIssues({}) } while (input)", "many", "maybe"],
  ["do { if (input) continue; await github.listIssues({}) } while (input)", "many", "maybe"],
  ["function* each() { yield github.listIssues({}) } const all = each(); return 1", "once", "maybe"],
] as const) {
  test(`the plan has ${times} and ${when} for ${source}`, () => {
    const plan = planOf(source);
    assert.deepEqual([toolsOf(plan), plan.calls[0]?.times, plan.calls[0]?.when], ["github.listIssues", times, when]);
  });
}
