/** Refuses filters of `glovebox audit` with a value that no record can have: an empty answer would look like evidence. */

import { ERRORS, GloveboxError, parseExecutionId } from "../../domain/index.ts";
import type { LedgerReader } from "../../ledger/index.ts";
import { countEdits } from "../../text/index.ts";

type Query = Parameters<LedgerReader["search"]>[0];

/** Every action that Glovebox records. `docs/reference/ledger.md` explains them. */
export const ACTIONS: readonly string[] = `
  gateway.opened gateway.closed configuration.changed policy.changed policy.rejected policy.allowed policy.failed policy.revoked
  execution.opened execution.closed execution.paused execution.resumed execution.refused execution.cancelled
  execution.replayed execution.exported call.intended call.ended call.refused callback.ended
  secret.set secret.lent secret.refused secret.removed key.rotated
  approval.requested approval.decided approval.used approval.expired approval.revoked approval.overtaken
  input.requested input.decided input.expired input.revoked
  skill.submitted skill.approved skill.rejected skill.revoked skill.retired skill.frozen skill.thawed skill.restored
  skill.tests_passed skill.key_rotated skill.unchanged
  labels.cleared tool.pinned tool.held tool.approved tool.rejected
  upstream.connected upstream.failed upstream.suspended upstream.restart upstream.login upstream.logout upstream.revoked
  upstream.request upstream.request.refused
  package.pinned package.held package.damaged package.approved
  person.added person.invited person.adopted person.reset person.removed role.changed password.set
  passkey.added passkey.removed
  login.done login.refused session.opened session.ended session.refused code.created code.refused
  token.created token.revoked token.refused proxy.refused
  client.registered consent.given consent.denied consent.ended token.issued
  shape.drifted ledger.cut ledger.suspect anomaly.seen
`
  .trim()
  .split(/\s+/);

/** Outcomes of calls, states of executions and decisions; the codes of errors are among them too. */
const OUTCOMES: readonly string[] =
  "ok error denied pending unknown completed failed paused cancelled suspended allow ask deny".split(" ");
/** Actors that exist without a record. */
const ACTORS = ["local", "operator", "gateway"];
const FLAGS = {
  actor: "--principal",
  action: "--action",
  outcome: "--outcome",
  subject: "--tool",
  execution: "--execution",
} as const;

const KNOWN: Readonly<Record<keyof typeof FLAGS, readonly string[]>> = {
  actor: ACTORS,
  // `call` stands for all actions about calls.
  action: [...ACTIONS, ...new Set(ACTIONS.map((action) => action.slice(0, action.indexOf("."))))],
  outcome: [...OUTCOMES, ...Object.keys(ERRORS)],
  subject: [],
  execution: [],
};
/** How many records are read to find the nearest value. */
const LOOKED_AT = 5_000;
const MOST_NAMED = 5;

/** Throws REQUEST_INVALID for the first such filter. Values that a record has are always known. */
export async function refuseUnknownFilters(reader: Pick<LedgerReader, "search">, query: Query): Promise<void> {
  for (const field of ["actor", "action", "outcome", "subject", "execution"] as const) {
    const value = query[field];
    if (typeof value !== "string" || KNOWN[field].includes(value)) continue;
    const isId = field !== "execution" || parseExecutionId(value) !== undefined;
    if (isId && (await reader.search({ [field]: value, limit: 1 })).length > 0) continue;
    const values = [...KNOWN[field], ...(await valuesOf(reader, field))];
    // Few enough to name all; the nearest spelling of an outcome is rarely what was meant.
    throw refuse(FLAGS[field], value, field === "outcome" ? OUTCOMES : nearest(value, values));
  }
}

async function valuesOf(reader: Pick<LedgerReader, "search">, field: keyof typeof FLAGS): Promise<readonly string[]> {
  if (field === "outcome" || field === "execution") return [];
  const records = await reader.search({ limit: LOOKED_AT });
  return records.flatMap((record) => (typeof record[field] === "string" ? [record[field]] : []));
}

function nearest(value: string, all: readonly string[]): readonly string[] {
  const distance = (one: string): number => countEdits(value.toLowerCase(), one.toLowerCase());
  return [...new Set(all)]
    .map((one) => [one, distance(one)] as const)
    .toSorted(([, one], [, other]) => one - other)
    .slice(0, MOST_NAMED)
    .map(([one]) => one);
}

function refuse(flag: string, value: string, known: readonly string[]): GloveboxError {
  const hint =
    known.length === 0 ? "`glovebox audit` without filters lists the newest records" : `Known: ${known.join(", ")}`;
  return new GloveboxError("REQUEST_INVALID", `${flag} ${JSON.stringify(value.slice(0, 200))}: no record has it`, {
    hint,
  });
}
