/**
 * Waits for an execution within the client's patience, and meanwhile asks the person behind the client about calls that
 * need approval. The operator decides whether clients may forward approvals.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { inputRequired } from "@modelcontextprotocol/server";
import type { InputRequiredResult } from "@modelcontextprotocol/server";

import { GloveboxError } from "../../../domain/index.ts";
import type { Approval, ApprovalId, Digest, ExecutionId, ExecutionView, Principal } from "../../../domain/index.ts";
import type { ClientApprovals } from "../../../policy/index.ts";
import type { Gateway } from "../../gateway.ts";
import type { Person } from "./person.ts";
import { parseAnswer, toApprovalForm } from "./approval-form.ts";

/** One request of a client about one execution. */
export interface Conversation {
  readonly gateway: Gateway;
  readonly clientApprovals: ClientApprovals;
  readonly principal: Principal;
  readonly person: Person;
  /** Digest of the request without answers: a retry must be of the same request. */
  readonly request: Digest;
  /** Fires when the client cancels or disconnects: nothing is asked from then on. */
  readonly signal: AbortSignal;
  /** Approvals that were asked for before and not answered. */
  readonly left: ReadonlySet<string>;
}

/** An execution and how to wait for it. */
export interface PolledExecution {
  /** `undefined` for an invalid id. May change while a request with a key waits. */
  readonly id: ExecutionId | undefined;
  /** Resolves when it has ended, the client's patience is over, or `until` fires. */
  readonly poll: (until: AbortSignal) => Promise<ExecutionView>;
}

const POLL_MS = 200;
/** Calls that a program makes at once are asked about together. */
const GATHER_MS = 100;
const MAX_AT_ONCE = 8;

/** Returns the state of the execution, or, if the protocol revision works that way, a request for input. */
export async function followWithPerson(
  conversation: Conversation,
  first: PolledExecution,
): Promise<ExecutionView | InputRequiredResult> {
  const { gateway, clientApprovals, principal, person } = conversation;
  const over = AbortSignal.any([conversation.signal, AbortSignal.timeout(gateway.patienceMs)]);
  const left = new Set(conversation.left);
  let view = await pollUntilAsked(conversation, left, { polled: first, over });
  for (;;) {
    if (view.state !== "running" && view.state !== "paused") return view;
    const { execution } = view;
    const waiting = await clientApprovals.waiting(principal, execution);
    const open = await findNext(conversation, waiting, left);
    if (open.length > 0 && person.kind === "returned") return askByAnswer(conversation, execution, { open, left });
    if (person.kind === "pushed")
      for (const approval of open) await askByPush(conversation, approval, { ask: person.ask, left, over });
    if (over.aborted) return gateway.view({ principal, execution, waitMs: 0 });
    if (view.state === "paused" && waiting.length > 0 && open.length === 0) return view;
    await sleep(POLL_MS); // it takes a moment until a decision resumes the execution
    const poll: PolledExecution["poll"] = (signal) =>
      gateway.view({ principal, execution, waitMs: gateway.patienceMs, signal });
    view = await pollUntilAsked(conversation, left, { polled: { id: execution, poll }, over });
  }
}

/** The approvals to ask for now. One that cannot be shown, such as a damaged one, is left to operators. */
async function findNext(
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
  readonly polled: PolledExecution;
  readonly over: AbortSignal;
}

async function pollUntilAsked(
  conversation: Conversation,
  left: ReadonlySet<string>,
  { polled, over }: PollState,
): Promise<ExecutionView> {
  const asked = new AbortController();
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, over]);
  void untilAsked(conversation, polled, { left, signal }).then(() => asked.abort());
  try {
    return await polled.poll(AbortSignal.any([asked.signal, over]));
  } finally {
    done.abort();
  }
}

/** Resolves when a new approval is pending, or when the signal fires. */
async function untilAsked(
  { clientApprovals, principal }: Conversation,
  polled: Pick<PolledExecution, "id">,
  { left, signal }: { readonly left: ReadonlySet<string>; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const { id } = polled;
    const waiting = id ? await clientApprovals.waiting(principal, id).catch(() => []) : [];
    if (waiting.some((one) => !left.has(one))) break;
    await pause(POLL_MS, signal);
  }
  await pause(GATHER_MS, signal);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** The client's next request names the execution and contains the answers. */
function askByAnswer(
  { clientApprovals, principal, request }: Conversation,
  execution: ExecutionId,
  { open, left }: { readonly open: readonly Approval[]; readonly left: ReadonlySet<string> },
): InputRequiredResult {
  const asked = open.map(({ id }) => id);
  return inputRequired({
    inputRequests: Object.fromEntries(
      open.map((approval) => [approval.id, inputRequired.elicit(toApprovalForm(approval))]),
    ),
    requestState: clientApprovals.close(principal, { execution, request, asked, left: [...left] }),
  });
}

interface PushState {
  readonly ask: Extract<Person, { kind: "pushed" }>["ask"];
  readonly left: Set<string>;
  readonly over: AbortSignal;
}

/** Ends without an answer when another person decides first or the patience is over; the call keeps waiting then. */
async function askByPush(
  conversation: Conversation,
  approval: Approval,
  { ask, left, over }: PushState,
): Promise<void> {
  const { clientApprovals, principal } = conversation;
  left.add(approval.id);
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, over]);
  const settled = untilSettled(conversation, approval, signal).then(() => done.abort());
  const answer = parseAnswer(await ask(toApprovalForm(approval), signal).catch(() => undefined));
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
    await pause(POLL_MS, signal);
    if (signal.aborted) return;
    const waiting = await clientApprovals.waiting(principal, execution).catch(() => undefined);
    if (waiting && !waiting.includes(id)) return;
  }
}

/** The first decision counts, and it may have come from another person. */
export function ignoreOvertaken(thrown: unknown): void {
  if (!(thrown instanceof GloveboxError) || thrown.code !== "REQUEST_CONFLICT") throw thrown;
}
