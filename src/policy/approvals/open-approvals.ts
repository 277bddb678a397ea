/** The queue of approvals: stored, recorded in the ledger first, decided once. A model has no way to decide one. */

import { cleanText, digestOf } from "../../text/index.ts";
import type { Ledger, LedgerEntry } from "../../ledger/index.ts";
import { GloveboxError, defined, isInputRequest, parseApprovalId, parseRuleId } from "../../domain/index.ts";
import type {
  Approval,
  ApprovalId,
  ApprovalRequests,
  ExecutionId,
  InputRequest,
  Instant,
  Json,
  JsonObject,
  Principal,
} from "../../domain/index.ts";
import type { ApprovalChange, ApprovalHead, ApprovalRow, Store } from "../../store/index.ts";

import { chooseFor, reaches, settles, stateAt } from "./covers.ts";
import { checkAnswer } from "./check-answer.ts";
import { NO_DUTIES, checkDecider, findVote, personOfDecider } from "./duties.ts";
import type { Duties } from "./duties.ts";
import { openAnswer, openArguments, openOrMark, sealArguments } from "./seal-arguments.ts";
import type { ArgumentSeal } from "./seal-arguments.ts";
import { notFound, watchApprovals } from "./watch-approvals.ts";

/** A person's decision. The scope defaults to the one call. */
export interface ApprovalChoice {
  readonly verdict: "approve" | "reject";
  readonly scope?: NonNullable<Approval["scope"]>;
  readonly note?: string;
  /** The values of a form that answers an input request. */
  readonly content?: JsonObject;
  /** Set if the decision has become a rule: the calls that wait and that it covers are decided, too. */
  readonly byRule?: "any" | "same";
}

/** A page of the queue: pending ones first, then newest first. */
export interface ApprovalQuery {
  /** At most 200. Defaults to 50, or to all approvals of one execution. */
  readonly limit?: number;
  readonly isPending?: boolean;
  readonly execution?: ExecutionId;
  readonly after?: ApprovalId;
}

/** Several processes can open the same queue; the first decision counts. Closing it rejects all waiting calls. */
export interface Approvals extends ApprovalRequests, AsyncDisposable {
  /**
   * Rejects with POLICY_DENIED unless `by` is a person who may decide, with REQUEST_NOT_FOUND for an unknown id, and with
   * REQUEST_CONFLICT if it is no longer pending. A wider scope also decides the pending approvals that it covers.
   */
  decide(id: ApprovalId, choice: ApprovalChoice, by: Principal): Promise<Approval>;
  /** Rejects as `decide` does for someone who may not decide this one. */
  checkDecider(id: ApprovalId, by: Principal): Promise<void>;
  /** An approval that `find` rejects is included, marked as damaged. */
  list(query: ApprovalQuery): Promise<readonly Approval[]>;
  /** Returns the pending approvals of an execution, oldest first. Cheap: reads no arguments. */
  waiting(execution: ExecutionId): Promise<readonly Pick<Approval, "id" | "principal">[]>;
  /** Withdraws a decision or a pending request. Rejects as `decide` does. */
  revoke(id: ApprovalId, by: Principal): Promise<Approval>;
  /** Calls `listener` for every new pending approval, whichever process requested it. Returns a function that stops it. */
  onRequested(listener: (head: ApprovalHead) => void): () => void;
  /** Calls `listener` once for every new approval that this process requested, as soon as it can be decided. */
  onRequestedHere(listener: (head: ApprovalHead) => void): () => void;
  /** Calls `listener` for every approval that is no longer pending, whichever process decided it. Returns a function that stops it. */
  onDecided(listener: (approval: Approval) => void): () => void;
}

export interface ApprovalsOptions {
  readonly store: { readonly approvals: Store["approvals"] };
  readonly ledger: Pick<Ledger, "write">;
  readonly seal: ArgumentSeal;
  readonly now: () => Instant;
  readonly createId: () => ApprovalId;
  readonly expiryMs: number;
  /** By default one person decides, who may be the one behind the agent. */
  readonly duties?: Duties;
  /** How often to poll for decisions of other processes. Defaults to 500 ms. */
  readonly everyMs?: number;
  /** Awaited before anyone hears of decisions: they may have changed the rules. Must not reject. */
  readonly beforeDecided?: () => Promise<unknown>;
  /** Called with the error of a failed poll; the next poll retries. */
  readonly warn?: (thrown: unknown) => void;
}

/** The maximum number of pending approvals. Further calls are refused, so that one program cannot flood the queue. */
export const MAX_PENDING = { perExecution: 20, perSession: 50, perPrincipal: 200 } as const;
/** The maximum size of sealed arguments of pending approvals of one principal. */
export const MAX_PENDING_BYTES = 32 * 1024 * 1024;
const BOUND = { ...MAX_PENDING, bytes: MAX_PENDING_BYTES } as const;
const EVERY_MS = 500;
const PAGE = 50;
const MAX_PAGE = 200;
const NOTE_BYTES = 2_000;

/** The caller closes the queue before the ledger and the store. */
export async function openApprovals(options: ApprovalsOptions): Promise<Approvals> {
  const { ledger, seal, now, everyMs = EVERY_MS, warn = () => undefined, duties = NO_DUTIES } = options;
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
  const onExpired = (head: ApprovalHead) => ledger.write(toEntry(head, "gateway", "approval.expired"));
  const { beforeDecided } = options;
  const watch = await watchApprovals({ store, now, everyMs, find, onExpired, warn, ...defined({ beforeDecided }) });
  const decisions = createDecisions({ store, ledger, now, get, seal, duties });

  return {
    find,
    onDecided: watch.onDecided,
    onRequested: watch.onRequested,
    onRequestedHere: watch.requestedHere.add,
    whenDecided: (id, signal) => watch.whenDecided(id, signal),
    request: createRequest(options, get, watch.requestedHere.notify),
    checkDecider: async (id, by) => checkDecider(await get(id), by, duties),
    async decide(id, choice, by) {
      const before = await get(id);
      await checkDecider(before, by, duties);
      if (before.state === "pending" && (await findVote(before, choice, by, duties)) === "first")
        await decisions.endorse(before, by);
      else await decisions.decide(id, toChange(choice, by, now()), by, choice);
      void watch.poll();
      return get(id);
    },
    async revoke(id, by) {
      await checkDecider(await get(id), by, duties);
      await decisions.revoke(id, by);
      void watch.poll();
      return get(id);
    },
    takeAnswer: async (id) => toAnswer(await store.find(id), seal),
    async withdraw(execution, only) {
      const taken = { state: "revoked", decidedBy: "gateway", decidedAt: now() } as const;
      const changed = await store.change({ kind: "execution", execution }, ({ id, state, ...head }) => {
        if (only !== undefined) return id === only && state === "pending" ? taken : undefined;
        if (state === "pending") return taken;
        // The server has its answer, or never gets it.
        return isInputRequest(id) ? { ...pickDecision(head), state, sealedArgs: new Uint8Array() } : undefined;
      });
      await recordWithdrawn(changed, ledger);
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

async function recordWithdrawn(changed: readonly ApprovalHead[], ledger: ApprovalsOptions["ledger"]): Promise<void> {
  for (const head of changed.filter(({ state }) => state === "revoked"))
    await ledger.write(toEntry(head, "gateway", "approval.revoked", { former: "pending" }));
}

function toAnswer(row: ApprovalRow | undefined, seal: ArgumentSeal): Awaited<ReturnType<Approvals["takeAnswer"]>> {
  if (row?.state === "rejected") return { action: "decline" };
  const content = row?.state === "approved" ? openAnswer(seal, row) : undefined;
  return content ? { action: "accept", content } : { action: "cancel" };
}

function limitOf({ limit, execution }: ApprovalQuery): number {
  if (limit !== undefined) return Math.min(limit, MAX_PAGE);
  return execution === undefined ? PAGE : Number.MAX_SAFE_INTEGER;
}

/** Records the request before the row is written, so that nothing unrecorded can be decided. */
function createRequest(
  options: ApprovalsOptions,
  get: (id: ApprovalId) => Promise<Approval>,
  onNew: (head: ApprovalHead) => void,
): Approvals["request"] {
  const { ledger, now } = options;
  const store = options.store.approvals;
  return async (request) => {
    const head = toHead(request, options);
    const choose = (related: readonly ApprovalHead[]) => chooseFor(head, related, now());
    const known = choose(await store.related(head));
    const evidence = known ? undefined : await request.evidence?.();
    if (!known) {
      const { effect, reason, expiresAt, principal } = head;
      const seen = evidence && { evidence: countEvidence(evidence) };
      await ledger.write(toEntry(head, principal, "approval.requested", { effect, reason, expiresAt, ...seen }));
    }
    const content = { args: argumentsOf(request), ...defined({ plan: request.plan, evidence }) };
    const sealedArgs = sealArguments(options.seal, head.id, content);
    const row = { ...head, sealedArgs };
    const approval = await get(known?.id ?? (await store.claim(row, choose, BOUND)));
    if (approval.id === head.id) onNew(head);
    const { execution, seq, scope, state: verdict } = approval;
    if (execution === row.execution && seq === row.seq) return approval;
    const applied = { ...approval, execution: row.execution, seq: row.seq };
    const detail = { verdict, ...defined({ scope }), asked: { execution, seq } };
    await ledger.write(toEntry(applied, approval.principal, "approval.used", detail));
    return approval;
  };
}

/** What a replay found, in numbers: names of arguments may be data. */
function countEvidence(evidence: NonNullable<Approval["evidence"]>): JsonObject {
  if (evidence.kind === "none") return { none: evidence.reason };
  const { rounds, made, control, args } = evidence;
  const count = (finding: string): number => args.filter((one) => one.finding === finding).length;
  const counts = { changed: count("changed"), unchanged: count("unchanged"), constant: count("constant") };
  return { rounds, made, control: control ? "changed" : "unchanged", ...counts };
}

/** Of an input request, the question takes the place of arguments. */
function argumentsOf(request: Parameters<ApprovalRequests["request"]>[0]): Json {
  return "question" in request ? { ...request.question } : request.call.args;
}

function toHead(request: Parameters<ApprovalRequests["request"]>[0], options: ApprovalsOptions): ApprovalHead {
  const { call, session, tool, labels } = request;
  const { execution, seq, principal, address } = call;
  const createdAt = options.now();
  const isInput = "question" in request;
  const id = isInput ? toInputId(options.createId()) : options.createId();
  const args = argumentsOf(request);
  const decision = isInput ? describeInput(request.question) : request.decision;
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
  };
}

function toChange({ verdict, scope = "call", note }: ApprovalChoice, by: Principal, decidedAt: Instant) {
  const cleanNote = note === undefined ? "" : cleanText(note, { maxBytes: NOTE_BYTES }).trim();
  const state = verdict === "approve" ? ("approved" as const) : ("rejected" as const);
  return { state, scope, decidedBy: by.id, decidedAt, ...defined({ note: cleanNote === "" ? undefined : cleanNote }) };
}

function toInputId(id: ApprovalId): ApprovalId {
  const input = parseApprovalId(id.replace(/^ap_/, "ir_"));
  if (!input) throw new TypeError("An approval has an invalid id");
  return input;
}

const INPUT_RULE = parseRuleId("input");

function describeInput({ server }: InputRequest["question"]): Pick<Approval, "rule" | "reason"> {
  if (!INPUT_RULE) throw new TypeError("The name of a rule is invalid");
  return { rule: INPUT_RULE, reason: `the server ${server} asks the user for input` };
}

interface DecisionPowers extends Pick<ApprovalsOptions, "ledger" | "now" | "seal"> {
  readonly store: Store["approvals"];
  readonly get: (id: ApprovalId) => Promise<Approval>;
  readonly duties: Duties;
}

function pickDecision({ scope, decidedBy, decidedAt, note }: Omit<ApprovalHead, "id" | "state">) {
  return defined({ scope, decidedBy, decidedAt, note });
}

/** Records each decision first. Of two concurrent decisions the first counts, and the second one is rejected. */
function createDecisions({ store, ledger, now, get, seal, duties }: DecisionPowers) {
  return {
    async decide(
      id: ApprovalId,
      plain: ApprovalChange,
      by: Principal,
      { content, byRule }: Pick<ApprovalChoice, "content" | "byRule">,
    ): Promise<void> {
      const before = await get(id);
      if (before.state !== "pending") throw alreadyDecided(before);
      const isAnswer = isInputRequest(id) && plain.state === "approved";
      const answer = isAnswer ? checkAnswer(before, content) : undefined;
      const own = isInputRequest(id) ? { ...plain, scope: "call" as const } : plain;
      const change = answer ? { ...own, sealedArgs: sealArguments(seal, id, { args: before.args }, answer) } : own;
      const { state: verdict, scope, note } = change;
      const fields = answer && Object.keys(answer);
      const detail = { verdict, ...defined({ scope, note, fields }) };
      await ledger.write(toEntry(before, by.id, "approval.decided", detail));
      const decided = { ...before, ...change };
      const isWaiting = (head: ApprovalHead): boolean => stateAt(head, now()) === "pending";
      const isCovered = (head: ApprovalHead): boolean =>
        head.id === id || reaches(decided, head) || (byRule !== undefined && settles(decided, head, byRule));
      const changed = await store.change({ kind: "alike", id }, (head) =>
        isWaiting(head) && isCovered(head) ? change : undefined,
      );
      if (!changed.some((head) => head.id === id)) {
        await ledger.write(toEntry(before, by.id, "approval.overtaken")); // another process was faster
        throw alreadyDecided(await get(id));
      }
      for (const head of changed.filter((one) => one.id !== id))
        await ledger.write(toEntry(head, by.id, "approval.decided", { ...detail, through: id }));
    },
    /** The first of two approvals: it stays pending. */
    async endorse(before: Approval, by: Principal): Promise<void> {
      const { id } = before;
      await ledger.write(toEntry(before, by.id, "approval.endorsed"));
      const first = { state: "pending", decidedBy: await personOfDecider(by, duties), decidedAt: now() } as const;
      const changed = await store.change({ kind: "one", id }, (head) =>
        stateAt(head, now()) === "pending" && head.decidedBy === undefined ? first : undefined,
      );
      if (changed.length > 0) return;
      await ledger.write(toEntry(before, by.id, "approval.overtaken"));
      throw alreadyDecided(await get(id));
    },
    async revoke(id: ApprovalId, by: Principal): Promise<void> {
      const before = await get(id);
      if (before.state === "expired" || before.state === "revoked") throw alreadyDecided(before);
      await ledger.write(toEntry(before, by.id, "approval.revoked", { former: before.state }));
      const taken = { state: "revoked", decidedBy: by.id, decidedAt: now() } as const;
      const changed = await store.change({ kind: "one", id }, ({ state, scope, note }) => {
        if (state === "expired" || state === "revoked") return undefined;
        return { ...taken, ...defined({ scope, note }) };
      });
      if (changed.length === 0) throw alreadyDecided(await get(id));
    },
  };
}

/** Who, what, scope and digests, never the arguments. */
function toEntry(head: ApprovalHead, actor: string, action: string, more: JsonObject = {}): LedgerEntry {
  const { id: subject, execution, seq, tool, definition, argsDigest, rule, principal } = head;
  const kind = isInputRequest(subject) ? action.replace(/^approval/, "input") : action;
  const detail = { execution, seq, principal, tool, definition, arguments: argsDigest, rule, ...more };
  return { actor, action: kind, subject, detail };
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
