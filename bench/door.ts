/** The door: what one crossing costs beside the upstream's own time, with policy, flow guard and the ledger on disk. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openLedger } from "../src/ledger/index.ts";
import { openBridge } from "../src/bridge/index.ts";
import type { Bridge } from "../src/bridge/index.ts";
import { AGENT, EXECUTION, TOOLS, snapshotOf } from "../test/fixtures/bridge/test-bridge.ts";
import { DEFAULT_LIMITS } from "../src/domain/index.ts";
import type { PolicyRule } from "../src/domain/index.ts";
import { compilePolicy, decide } from "../src/policy/index.ts";
import { openStore } from "../src/store/index.ts";
import { ms, print, time } from "./measure.ts";

const CALLS = 2_000;
const RULES = 100;

/** Rules of the kind that people write, none of which holds anything back here. */
function parseRules(): readonly PolicyRule[] {
  const rules = Array.from({ length: RULES }, (_, n) => ({
    id: `rule-${n}`,
    decision: "deny",
    tools: [`server${n}.*`],
    effects: [],
    reason: "not here",
  }));
  return rules as unknown as readonly PolicyRule[]; // ids of our own
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
      snapshot: snapshotOf(TOOLS),
      limits: { ...DEFAULT_LIMITS, calls: Number.MAX_SAFE_INTEGER },
      signal: new AbortController().signal,
      ledger,
      decide: (call, tool) => decide(policy, { call, tool, principal: AGENT }),
      invoke: async () => ({ value: { ok: true }, attachments: [] }),
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
  } finally {
    rmSync(folder, { recursive: true });
  }
}
