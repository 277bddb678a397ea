/** Calls that wait, put into the store of a configuration as a gateway would: for tests of those who decide. */

import { randomBytes } from "node:crypto";

import { digestOf } from "../../src/audit/index.ts";
import { loadSettings } from "../../src/config/index.ts";
import type { Settings } from "../../src/config/index.ts";
import {
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseRuleId,
  parseToolAddress,
} from "../../src/domain/index.ts";
import type { Approval, JsonObject } from "../../src/domain/index.ts";
import { openQueue } from "../../src/open-approvals.ts";
import { createVault, openRecords } from "../../src/open-records.ts";
import type { Approvals } from "../../src/policy/index.ts";

const TOOL = known(parseToolAddress("shop.pay"));
const PLACE = { line: 2, column: 7 };
const PLANNED = { tool: TOOL, effect: "write", access: "literal", times: "once", when: "always", at: [PLACE] } as const;

/** What waits: each is call 2, 3, … of one paused execution whose program has the call in its second line. */
export interface Waiting {
  readonly args: readonly JsonObject[];
  readonly source?: string;
}

/** Answers the approvals once they are in the store and the ledger; nothing is left open. */
export async function askIn(folder: string, waiting: Waiting): Promise<readonly Approval[]> {
  const settings = await loadSettings(`${folder}/glovebox.config.json`, {});
  return withQueue(settings, (queue) => ask(queue, waiting));
}

/** A queue on the store of these settings, beside whoever else has it open. */
export async function withQueue<Value>(settings: Settings, use: (queue: Queue) => Promise<Value>): Promise<Value> {
  const { store, ledger, close } = await openRecords(settings);
  const vault = createVault(settings, store, ledger);
  const approvals = await openQueue(settings, { store, ledger, vault });
  try {
    return await use({ approvals, store, ledger });
  } finally {
    await approvals[Symbol.asyncDispose]();
    await vault.close();
    await close();
  }
}

/** Who asks and decides here. */
export interface Queue extends Pick<Awaited<ReturnType<typeof openRecords>>, "store" | "ledger"> {
  readonly approvals: Approvals;
}

/** Opens and pauses an execution, writes one call that was made, and asks about the others. */
export async function ask({ approvals, store, ledger }: Queue, { args, source = SOURCE }: Waiting) {
  const execution = known(parseExecutionId(`ex_${randomBytes(12).toString("hex")}`));
  const principal = known(parsePrincipalId("local"));
  const opening = { id: execution, principal, source: digestOf(source), sourceText: source, startedAt: Date.now() };
  await store.executions.open(opening);
  const made = { execution, seq: 1, effect: "read", decision: "allow" };
  await ledger.write({ actor: principal, action: "call.intended", subject: "shop.list", detail: made });
  const ended = { execution, seq: 1, outcome: "ok", ms: 3 };
  await ledger.write({ actor: principal, action: "call.ended", subject: "shop.list", detail: ended });
  const asked: Approval[] = [];
  for (const [index, each] of args.entries())
    asked.push(
      await approvals.request({
        call: { execution, seq: index + 2, principal, address: TOOL, args: each },
        tool: { digest: known(parseDigest(`sha256:${"0".repeat(64)}`)), effect: "write" },
        decision: { rule: known(parseRuleId("rules[0]")), reason: "money leaves" },
        labels: [],
        plan: { exact: true, calls: [PLANNED] },
      }),
    );
  await store.executions.close(execution, { endedAt: Date.now(), state: "paused", result: "{}" });
  return asked;
}

const SOURCE = "await shop.list({});\nawait shop.pay(input);";

function known<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError("A fixture made a value that does not parse");
  return value;
}
