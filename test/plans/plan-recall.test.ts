/** The call plan against generated programs: what really is called is in it, and what it promises is kept. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import * as fc from "fast-check";

import { analyze, planCalls } from "../../src/analysis/index.ts";
import { DEFAULT_LIMITS, parseConnectorId } from "../../src/domain/index.ts";
import type { CallPlan, Namespace, Program } from "../../src/domain/index.ts";
import { generateProgram } from "./generated-programs.ts";

const NAMESPACES: readonly Namespace[] = ["github", "gitlab", "mail"].map((name) => {
  const connector = parseConnectorId(name);
  assert.ok(connector);
  return { name, connector, summary: "", tools: ["list", "read", "send"] };
});

const INPUTS = [
  { a: null, b: 0, c: 1, n: 0 },
  { a: { f: () => 1 }, b: 1, c: 0, n: 1 },
  { a: { f: () => 1 }, b: 0, c: 0, n: undefined },
] as const;

function programOf(source: string): Program {
  const options = { limits: DEFAULT_LIMITS, enabled: false, blockOnError: false, rules: {} };
  const analyzed = analyze(source, { namespaces: NAMESPACES }, options);
  assert.ok(analyzed.ok, source);
  return analyzed.program;
}

/** How often each tool was called, and whether the program came to its end. */
async function run(program: Program, input: object): Promise<{ counts: Map<string, number>; ended: boolean }> {
  const counts = new Map<string, number>();
  const toolOf = (address: string) => async (): Promise<unknown> => {
    counts.set(address, (counts.get(address) ?? 0) + 1);
    return { id: 1 };
  };
  const servers = NAMESPACES.map(({ name, tools }) => [
    name,
    Object.freeze(Object.fromEntries(tools.map((tool) => [tool, toolOf(`${name}.${tool}`)]))),
  ]);
  const wrapped = `(async () => {"use strict";\n${program.javascript}\n})`;
  const main = runInNewContext(wrapped, { ...Object.fromEntries(servers), input, console: { log: () => undefined } });
  const ended = await main().then(
    () => true,
    () => false,
  );
  return { counts, ended };
}

function mistakesOf(plan: CallPlan, counts: ReadonlyMap<string, number>, ended: boolean): readonly string[] {
  const planned = new Map(plan.calls.map((call) => [String(call.tool), call]));
  const surprises = [...counts.keys()].filter((tool) => plan.exact && !planned.has(tool));
  const repeated = [...counts].filter(([tool, count]) => planned.get(tool)?.times === "once" && count > 1);
  const missed = plan.calls.filter(({ tool, when }) => ended && when === "always" && !counts.has(tool));
  return [
    ...surprises.map((tool) => `${tool} is not in the plan`),
    ...repeated.map(([tool, count]) => `${tool} was to be called once, not ${count} times`),
    ...missed.map(({ tool }) => `${tool} was to be called always`),
  ];
}

test("the plan of a generated program contains every call with its times and when", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(999), { minLength: 10, maxLength: 60 }), async (numbers) => {
      const source = generateProgram(numbers);
      const program = programOf(source);
      const plan = planCalls(program.calls, { namespaces: NAMESPACES, tools: new Map() });
      for (const input of INPUTS) {
        const { counts, ended } = await run(program, input);
        assert.deepEqual(mistakesOf(plan, counts, ended), [], source);
      }
    }),
    { numRuns: 250 },
  );
});

test("most generated programs complete, call tools and have specific plans", async () => {
  const samples = fc.sample(fc.array(fc.nat(999), { minLength: 10, maxLength: 60 }), { numRuns: 200, seed: 1 });
  let [ended, calling, narrow] = [0, 0, 0];
  for (const numbers of samples) {
    const program = programOf(generateProgram(numbers));
    const outcome = await run(program, INPUTS[1]);
    if (outcome.ended) ended += 1;
    if (outcome.counts.size > 0) calling += 1;
    if (program.calls.some(({ address }) => address !== "dynamic")) narrow += 1;
  }
  assert.ok(ended > 150 && calling > 150 && narrow > 120, JSON.stringify({ ended, calling, narrow }));
});
