/**
 * Waits for an execution as long as its client has patience, and meanwhile asks the person there about calls that need
 * one. Whether clients may answer approvals is the operator's setting.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { inputRequired } from "@modelcontextprotocol/server";
import type { InputRequiredResult } from "@modelcontextprotocol/server";

import { GloveboxError } from "../../../domain/index.ts";
import type { Approval, ApprovalId, Digest, ExecutionId, ExecutionView, Principal } from "../../../domain/index.ts";
import type { ClientApprovals } from "../../../policy/index.ts";
import type { Gateway } from "../../gateway.ts";
import type { Person } from "./person.ts";
import { parseAnswer, toQuestion } from "./question.ts";

/** One request of a client about one execution. */
export interface Conversation {
  readonly gateway: Gateway;
  readonly clientApprovals: ClientApprovals;
  readonly principal: Principal;
  readonly person: Person;
  /** Of the request without what was answered: a retry must be of the same. */
  readonly request: Digest;
  /** Aborted when the client cancels or goes away: then nobody is asked any more. */
  readonly signal: AbortSignal;
  /** What was asked before and not answered. */
  readonly left: ReadonlySet<string>;
}

/** Looks at the execution until it has ended, patience is over or `until` says that there is something to ask. */
export type ExecutionPoll = (until: AbortSignal, opened: (execution: ExecutionId) => void) => Promise<ExecutionView>;

const LOOK_MS = 200;
/** Calls that a program makes at once are asked about at once. */
const GATHER_MS = 100;
const MAX_AT_ONCE = 8;

/** How the execution stands, or, where the protocol wants it so, what the person is to be asked. */
export async function followWithPerson(
  talk: Conversation,
  first: ExecutionPoll,
): Promise<ExecutionView | InputRequiredResult> {
  const { gateway, clientApprovals, principal, person } = talk;
  const over = AbortSignal.any([talk.signal, AbortSignal.timeout(gateway.patienceMs)]);
  const left = new Set(talk.left);
  let view = await pollUntilAsked(talk, left, { look: first, over });
  for (;;) {
    if (view.state !== "running" && view.state !== "paused") return view;
    const { execution } = view;
    const waiting = await clientApprovals.waiting(principal, execution);
    const open = await openNext(talk, waiting, left);
    if (open.length > 0 && person.kind === "returned") return askByAnswer(talk, execution, { open, left });
    if (person.kind === "pushed")
      for (const approval of open) await askByPush(talk, approval, { ask: person.ask, left, over });
    if (over.aborted) return gateway.view({ principal, execution, waitMs: 0 });
    if (view.state === "paused" && waiting.length > 0 && open.length === 0) return view;
    await sleep(LOOK_MS); // a decision takes a moment to get the execution going
    const look: ExecutionPoll = (signal) => gateway.view({ principal, execution, waitMs: gateway.patienceMs, signal });
    view = await pollUntilAsked(talk, left, { look, over, execution });
  }
}

/** What is to be asked about now. One that cannot be shown, such as a damaged one, is left to operators. */
async function openNext(
  { clientApprovals, principal }: Conversation,
  waiting: readonly ApprovalId[],
  left: Set<string>,
): Promise<readonly Approval[]> {
  const open: Approval[] = [];
  for (const id of waiting.filter((id) => !left.has(id)).slice(0, MAX_AT_ONCE)) {
    const approval = await clientApprovals.find(principal, id).catch(() => undefined);
    if (approval) open.push(approval);
    else left.add(id);
  }
  return open;
}

interface PollState {
  readonly look: ExecutionPoll;
  readonly over: AbortSignal;
  readonly execution?: ExecutionId;
}

async function pollUntilAsked(talk: Conversation, left: ReadonlySet<string>, { look, over, execution }: PollState) {
  const asked = new AbortController();
  const done = new AbortController();
  const watch = (id: ExecutionId): void =>
    void untilAsked(talk, id, { left, signal: AbortSignal.any([done.signal, over]) }).then(() => asked.abort());
  if (execution) watch(execution);
  try {
    return await look(AbortSignal.any([asked.signal, over]), watch);
  } finally {
    done.abort();
  }
}

/** Resolves when something waits that was not asked yet, or when the signal fires. */
async function untilAsked(
  { clientApprovals, principal }: Conversation,
  execution: ExecutionId,
  { left, signal }: { readonly left: ReadonlySet<string>; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const waiting = await clientApprovals.waiting(principal, execution).catch(() => []);
    if (waiting.some((id) => !left.has(id))) break;
    await pause(LOOK_MS, signal);
  }
  await pause(GATHER_MS, signal);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** The client's next request says which execution it is about and what the person answered. */
function askByAnswer(
  { clientApprovals, principal, request }: Conversation,
  execution: ExecutionId,
  { open, left }: { readonly open: readonly Approval[]; readonly left: ReadonlySet<string> },
): InputRequiredResult {
  const asked = open.map(({ id }) => id);
  return inputRequired({
    inputRequests: Object.fromEntries(
      open.map((approval) => [approval.id, inputRequired.elicit(toQuestion(approval))]),
    ),
    requestState: clientApprovals.close(principal, { execution, request, asked, left: [...left] }),
  });
}

interface PushState {
  readonly ask: Extract<Person, { kind: "pushed" }>["ask"];
  readonly left: Set<string>;
  readonly over: AbortSignal;
}

/** Ends without an answer when somebody else decides first, or when patience is over; the call waits on then. */
async function askByPush(talk: Conversation, approval: Approval, { ask, left, over }: PushState): Promise<void> {
  const { clientApprovals, principal } = talk;
  left.add(approval.id);
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, over]);
  const settled = untilSettled(talk, approval, signal).then(() => done.abort());
  const answer = parseAnswer(await ask(toQuestion(approval), signal).catch(() => undefined));
  done.abort();
  await settled;
  if (answer) await clientApprovals.answer(principal, approval.id, answer).catch(ignoreOvertaken);
}

async function untilSettled(
  { clientApprovals, principal }: Conversation,
  { id, execution }: Approval,
  signal: AbortSignal,
) {
  for (;;) {
    await pause(LOOK_MS, signal);
    if (signal.aborted) return;
    const waiting = await clientApprovals.waiting(principal, execution).catch(() => undefined);
    if (waiting && !waiting.includes(id)) return;
  }
}

/** The first decision counts, and it may have come from somebody else. */
export function ignoreOvertaken(thrown: unknown): void {
  if (!(thrown instanceof GloveboxError) || thrown.code !== "REQUEST_CONFLICT") throw thrown;
}
