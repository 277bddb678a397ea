/** The queue of approvals: stored, recorded in the ledger first, decided once. */

import { cleanText, digestOf } from "../../text/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type { Approval, ApprovalId, ApprovalRequests, Instant, Principal } from "../../domain/index.ts";
import type { ApprovalChange, ApprovalHead, ApprovalRow, Store } from "../../store/index.ts";

import type { ApprovalChoice, ApprovalQuery, Approvals } from "./approvals.ts";
import { chooseFor, reaches, stateAt } from "./covers.ts";
import {
  describeDecision,
  describeExpiry,
  describeOvertaken,
  describeRequest,
  describeRevocation,
  describeUse,
} from "./record-approval.ts";
import { openArguments, openOrMark, sealArguments } from "./seal-arguments.ts";
import type { ArgumentSeal } from "./seal-arguments.ts";
import { notFound, watchApprovals } from "./watch-approvals.ts";

export interface ApprovalsOptions {
  readonly store: { readonly approvals: Store["approvals"] };
  readonly ledger: Pick<Ledger, "write">;
  readonly seal: ArgumentSeal;
  readonly now: () => Instant;
  readonly createId: () => ApprovalId;
  /** How long an approval can be decided. */
  readonly expiryMs: number;
  /** How often to poll for decisions of other processes. Defaults to 500 ms. */
  readonly everyMs?: number;
  /** Called with the error of a failed poll; the next poll retries. */
  readonly warn?: (thrown: unknown) => void;
}

/** The maximum number of pending approvals of one principal. Further calls are refused. */
export const MAX_PENDING = 200;
/** The maximum size of sealed arguments of pending approvals of one principal. */
export const MAX_PENDING_BYTES = 32 * 1024 * 1024;
const BOUND = { count: MAX_PENDING, bytes: MAX_PENDING_BYTES } as const;
const EVERY_MS = 500;
const PAGE = 50;
const MAX_PAGE = 200;
const NOTE_BYTES = 2_000;

/** The caller closes the queue before the ledger and the store. */
export async function openApprovals(options: ApprovalsOptions): Promise<Approvals> {
  const { ledger, seal, now, everyMs = EVERY_MS, warn = () => undefined } = options;
  const store = options.store.approvals;
  const show = (row: ApprovalRow): Approval => ({ ...openArguments(seal, row), state: stateAt(row, now()) });
  const find = async (id: ApprovalId): Promise<Approval | undefined> => {
    const row = await store.find(id);
    return row && show(row);
  };
  const get = async (id: ApprovalId): Promise<Approval> => {
    const found = await find(id);
    if (!found) throw notFound(id);
    return found;
  };
  const onExpired = (head: ApprovalHead) => ledger.write(describeExpiry(head));
  const watch = await watchApprovals({ store, now, everyMs, find, onExpired, warn });
  const decisions = createDecisions({ store, ledger, now, get });

  return {
    find,
    onDecided: (listener) => watch.onDecided(listener),
    whenDecided: (id, signal) => watch.whenDecided(id, signal),
    request: createRequest(options, get),
    async decide(id, choice, by) {
      refuseUnlessOperator(by);
      await decisions.decide(id, toChange(choice, by, now()), by);
      void watch.poll();
      return get(id);
    },
    async revoke(id, by) {
      refuseUnlessOperator(by);
      await decisions.revoke(id, by);
      void watch.poll();
      return get(id);
    },
    async withdraw(execution) {
      const taken = { state: "revoked", decidedBy: "gateway", decidedAt: now() } as const;
      const changed = await store.change({ kind: "execution", execution }, ({ state }) =>
        state === "pending" ? taken : undefined,
      );
      for (const head of changed) await ledger.write(describeRevocation({ ...head, state: "pending" }, "gateway"));
      void watch.poll();
    },
    async list(query: ApprovalQuery) {
      const rows = await store.list({ ...query, limit: limitOf(query), now: now() });
      return rows.map((row) => ({ ...openOrMark(seal, row), state: stateAt(row, now()) }));
    },
    waiting: (execution) => store.waiting(execution, now()),
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

function limitOf({ limit, execution }: ApprovalQuery): number {
  if (limit !== undefined) return Math.min(limit, MAX_PAGE);
  return execution === undefined ? PAGE : Number.MAX_SAFE_INTEGER;
}

/** Records the request before the row is written, so that nothing unrecorded can be decided. */
function createRequest(options: ApprovalsOptions, get: (id: ApprovalId) => Promise<Approval>): Approvals["request"] {
  const { ledger, now } = options;
  const store = options.store.approvals;
  return async (request) => {
    const row = toRow(request, options);
    const choose = (related: readonly ApprovalHead[]) => chooseFor(row, related, now());
    const known = choose(await store.related(row));
    if (!known) await ledger.write(describeRequest(row));
    const counted = known?.id ?? (await store.claim(row, choose, BOUND));
    const approval = await get(counted);
    const isOwn = approval.execution === row.execution && approval.seq === row.seq;
    if (!isOwn) await ledger.write(describeUse(approval, row));
    return approval;
  };
}

function toRow(request: Parameters<ApprovalRequests["request"]>[0], options: ApprovalsOptions): ApprovalRow {
  const { call, session, tool, decision, labels, plan } = request;
  const { execution, seq, principal, address, args } = call;
  const [id, createdAt] = [options.createId(), options.now()];
  return {
    id,
    execution,
    seq,
    principal,
    ...defined({ session }),
    tool: address,
    definition: tool.digest,
    effect: tool.effect,
    argsDigest: digestOf(args),
    rule: decision.rule,
    reason: decision.reason,
    labels,
    createdAt,
    expiresAt: createdAt + options.expiryMs,
    state: "pending",
    sealedArgs: sealArguments(options.seal, id, { args, ...defined({ plan }) }),
  };
}

function toChange({ verdict, scope = "call", note }: ApprovalChoice, by: Principal, decidedAt: Instant) {
  const cleanNote = note === undefined ? "" : cleanText(note, { maxBytes: NOTE_BYTES }).trim();
  const state = verdict === "approve" ? ("approved" as const) : ("rejected" as const);
  return { state, scope, decidedBy: by.id, decidedAt, ...(cleanNote !== "" && { note: cleanNote }) };
}

interface DecisionPowers extends Pick<ApprovalsOptions, "ledger" | "now"> {
  readonly store: Store["approvals"];
  readonly get: (id: ApprovalId) => Promise<Approval>;
}

/** Records each decision first. Of two concurrent decisions the first counts, and the second one is rejected. */
function createDecisions({ store, ledger, now, get }: DecisionPowers) {
  return {
    async decide(id: ApprovalId, change: ApprovalChange, by: Principal): Promise<void> {
      const before = await get(id);
      if (before.state !== "pending") throw alreadyDecided(before);
      await ledger.write(describeDecision(before, change, by.id));
      const decided = { ...before, ...change };
      const isWaiting = (head: ApprovalHead): boolean => stateAt(head, now()) === "pending";
      const changed = await store.change({ kind: "alike", id }, (head) =>
        isWaiting(head) && (head.id === id || reaches(decided, head)) ? change : undefined,
      );
      if (!changed.some((head) => head.id === id)) {
        await ledger.write(describeOvertaken(before, by));
        throw alreadyDecided(await get(id));
      }
      for (const head of changed) if (head.id !== id) await ledger.write(describeDecision(head, change, by.id, before));
    },
    async revoke(id: ApprovalId, by: Principal): Promise<void> {
      const before = await get(id);
      if (before.state === "expired" || before.state === "revoked") throw alreadyDecided(before);
      await ledger.write(describeRevocation(before, by.id));
      const taken = { state: "revoked", decidedBy: by.id, decidedAt: now() } as const;
      const changed = await store.change({ kind: "one", id }, ({ state, scope, note }) => {
        if (state === "expired" || state === "revoked") return undefined;
        return { ...taken, ...defined({ scope, note }) };
      });
      if (changed.length === 0) throw alreadyDecided(await get(id));
    },
  };
}

/** A model that learned an id must not be able to decide: only operators are people. */
function refuseUnlessOperator({ id, kind }: Principal): void {
  if (kind === "operator") return;
  throw new GloveboxError("POLICY_DENIED", `${id} has the kind ${kind}, but only an operator can decide an approval`, {
    hint: "An operator decides with `glovebox approve` or `glovebox reject`",
  });
}

function alreadyDecided({ id, state, decidedBy, decidedAt, expiresAt }: Approval): GloveboxError {
  if (state === "expired")
    return new GloveboxError("REQUEST_CONFLICT", `${id} expired at ${new Date(expiresAt).toISOString()}`, {
      hint: "Run the program again; `approvals.expiryMs` sets how long an approval waits",
    });
  const when = decidedAt === undefined ? "" : ` at ${new Date(decidedAt).toISOString()}`;
  return new GloveboxError("REQUEST_CONFLICT", `${id} was ${state} by ${decidedBy ?? "an unknown operator"}${when}`, {
    hint: "The first decision counts. `glovebox approvals revoke` withdraws a remembered one",
  });
}
