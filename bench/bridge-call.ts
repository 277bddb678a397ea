/**
 * Measures the cost of one bridge call in addition to the upstream's own time, with policy, flow guard and the ledger
 * on disk.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openLedger } from "../src/ledger/open-ledger.ts";
import { openBridge } from "../src/bridge/index.ts";
import type { Bridge } from "../src/bridge/index.ts";
import { AGENT, EXECUTION, TOOLS, createTool, snapshotOf } from "../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_LIMITS } from "../src/domain/index.ts";
import type { PolicyRule } from "../src/domain/index.ts";
import { compilePolicy } from "../src/policy/index.ts";
import { decide } from "../src/policy/rules/decide.ts";
import { openStore } from "../src/store/index.ts";
import { ms, print, time } from "./measure.ts";

const CALLS = 2_000;
const RULES = 100;
const ISSUES = 100;
const ROUNDS = 101;

/** An array as upstreams return it, with the schema that they declare. */
const LISTED = {
  issues: Array.from({ length: ISSUES }, (_, id) => ({
    id,
    title: "a title",
    user: { login: "ada" },
    labels: ["a", "b"],
  })),
};
const LIST = {
  type: "object",
  properties: {
    issues: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "integer" },
          title: { type: "string" },
          user: { type: "object", properties: { login: { type: "string" } }, required: ["login"] },
          labels: { type: "array", items: { type: "string" } },
        },
        required: ["id", "title"],
      },
    },
  },
  required: ["issues"],
};
/** The second schema means the same, but has a keyword that `src/bridge/quick-fit.ts` leaves to the validator. */
const LISTING = [
  createTool("files.list", { output: LIST }),
  createTool("files.listSlowly", { output: { ...LIST, minProperties: 0 } }),
];

/** Typical rules; none of them denies a call here. */
function parseRules(): readonly PolicyRule[] {
  const rules = Array.from({ length: RULES }, (_, n) => ({
    id: `rule-${n}`,
    decision: "deny",
    tools: [`server${n}.*`],
    effects: [],
    reason: "not here",
  }));
  return rules as unknown as readonly PolicyRule[]; // these ids are constants
}

export async function benchDoor(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  try {
    await using store = await openStore({ path: join(folder, "bench.db"), now: Date.now });
    await using ledger = await openLedger({ store, now: Date.now });
    const policy = compilePolicy({ profile: "open", rules: parseRules(), groups: new Map(), effects: new Map() });
    const bridge: Bridge = openBridge({
      execution: EXECUTION,
      opened: () => Promise.resolve(),
      principal: AGENT,
      snapshot: snapshotOf([...TOOLS, ...LISTING]),
      limits: { ...DEFAULT_LIMITS, calls: Number.MAX_SAFE_INTEGER },
      signal: new AbortController().signal,
      ledger,
      decide: (call, tool) => decide(policy, { call, tool, principal: AGENT }),
      invoke: async ({ output }) => ({ value: output ? LISTED : { ok: true }, attachments: [] }),
      report: String,
    });
    const call = (address: string) => () => bridge.call(address, '{"path":"a/b","text":"hello"}');
    await time(CALLS / 10, call("files.read"));
    console.log(`\nDoor (an upstream that answers at once, ${RULES} rules, ledger on disk)`);
    const read = await time(CALLS, call("files.read"));
    print("one read: p50 / p95", `${ms(read.p50)} / ${ms(read.p95)}`, "aim: 0.30 ms");
    const write = await time(CALLS / 10, call("files.write"));
    print("one write, on disk before it leaves: p50 / p95", `${ms(write.p50)} / ${ms(write.p95)}`);
    const many = await time(20, () => Promise.all(Array.from({ length: 100 }, call("files.write"))));
    print("one of 100 parallel writes: p50 / p95", `${ms(many.p50 / 100)} / ${ms(many.p95 / 100)}`);
    await benchQuickFit(call);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Measures what the quick check of results saves, with both variants alternating in one run. This row is why the check
 * exists.
 */
async function benchQuickFit(call: (address: string) => () => Promise<unknown>): Promise<void> {
  const [quick, slow]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    quick.push((await time(1, call("files.list"))).p50);
    slow.push((await time(1, call("files.listSlowly"))).p50);
  }
  const [fast = 0, validated = 0] = [quick, slow].map((times) => times.toSorted((a, b) => a - b)[(ROUNDS - 1) / 2]);
  print(`one read of ${ISSUES} objects, checked quickly / by the validator`, `${ms(fast)} / ${ms(validated)}`);
  print("ratio", `${(validated / fast).toFixed(1)} x`, "kept above 1.2 x");
}
