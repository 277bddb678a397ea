/**
 * Waits for an execution within the client's patience, and meanwhile asks the person behind the client about calls that
 * need approval. The operator decides whether clients may forward approvals.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { inputRequired } from "@modelcontextprotocol/server";
import type { InputRequiredResult } from "@modelcontextprotocol/server";

import type { Approval, Digest, ExecutionId, ExecutionView, Principal } from "../../../domain/index.ts";
import type { AnswerableApprovals } from "../../gateway.ts";
import type { Gateway } from "../../gateway.ts";
import type { Person } from "./person.ts";
import { canApprove, isUrlRequest, noteRefusal, parseAnswer, toForm } from "./approval-form.ts";
import type { AnswerProblems, FormGuide } from "./approval-form.ts";

/** One request of a client about one execution. */
export interface Conversation {
  readonly gateway: Gateway;
  readonly clientApprovals: AnswerableApprovals;
  readonly principal: Principal;
  readonly person: Person;
  /** Digest of the request without answers: a retry must be of the same request. */
  readonly request: Digest;
  /** Nothing is asked from when it fires: the client cancels or disconnects, or its patience is over. */
  readonly signal: AbortSignal;
  /** Approvals that were asked for and not answered. */
  readonly left: Set<string>;
  readonly problems: AnswerProblems;
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
/** How often a client is asked again after an answer that does not fit; since 2026-07-28 the client limits its rounds. */
const MAX_ANSWERS = 3;

/** Returns the state of the execution, or, if the protocol revision works that way, an input request. */
export async function followWithPerson(
  unlimited: Conversation,
  first: PolledExecution,
): Promise<ExecutionView | InputRequiredResult> {
  const { gateway, clientApprovals, principal, person, left } = unlimited;
  const signal = AbortSignal.any([unlimited.signal, AbortSignal.timeout(gateway.patienceMs)]);
  const conversation = { ...unlimited, signal };
  let view = await pollUntilAsked(conversation, first);
  for (;;) {
    if (view.state !== "running" && view.state !== "paused") return view;
    const { execution } = view;
    const waiting = await clientApprovals.waiting(principal, execution);
    const open: Approval[] = [];
    for (const id of waiting.filter((id) => !left.has(id)).slice(0, MAX_AT_ONCE)) {
      const approval = await clientApprovals.find(principal, id).catch(() => undefined);
      const isShown = approval && (!isUrlRequest(approval) || person.hasUrls);
      if (isShown) open.push(approval);
      else left.add(id); // one that cannot be shown, such as a damaged one, is left to operators
    }
    if (open.length > 0 && person.kind === "returned") return askByAnswer(conversation, execution, open);
    if (person.kind === "pushed") for (const approval of open) await askByPush(conversation, approval, person.ask);
    if (signal.aborted) return gateway.view({ principal, execution, waitMs: 0 });
    const isTold = view.state === "paused" || view.questions !== undefined;
    if (isTold && waiting.length > 0 && open.length === 0) return view;
    await sleep(POLL_MS); // it takes a moment until a decision resumes the execution
    const poll: PolledExecution["poll"] = (until) =>
      gateway.view({ principal, execution, waitMs: gateway.patienceMs, signal: until });
    view = await pollUntilAsked(conversation, { id: execution, poll });
  }
}

/** Polls until a new approval is pending. */
async function pollUntilAsked(conversation: Conversation, polled: PolledExecution): Promise<ExecutionView> {
  const { clientApprovals, principal, left, signal } = conversation;
  const pending = new AbortController();
  const done = new AbortController();
  const isAsked = async (): Promise<boolean> => {
    const waiting = polled.id ? await clientApprovals.waiting(principal, polled.id).catch(() => []) : [];
    return waiting.some((id) => !left.has(id));
  };
  const ended = AbortSignal.any([done.signal, signal]);
  void pollUntil(isAsked, ended)
    .then(() => pause(GATHER_MS, ended))
    .then(() => pending.abort());
  try {
    return await polled.poll(AbortSignal.any([pending.signal, signal]));
  } finally {
    done.abort();
  }
}

/** Resolves when it is true, or when the signal fires. */
async function pollUntil(isTrue: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await isTrue())) await pause(POLL_MS, signal);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** The client's next request names the execution and contains the answers. */
function askByAnswer(
  conversation: Conversation,
  execution: ExecutionId,
  open: readonly Approval[],
): InputRequiredResult {
  const { clientApprovals, principal, request, left } = conversation;
  const asked = open.map(({ id }) => id);
  const rejectOnly = open.filter((approval) => !canApprove(approval)).map(({ id }) => id);
  return inputRequired({
    inputRequests: Object.fromEntries(
      open.map((approval) => [approval.id, toInputRequest(toForm(approval, guideOf(approval, conversation)))]),
    ),
    requestState: clientApprovals.close(principal, { execution, request, asked, rejectOnly, left: [...left] }),
  });
}

function guideOf({ id }: Approval, { gateway, problems }: Conversation): FormGuide {
  return { show: gateway.people.commands(id).show, problem: problems.get(id)?.at(-1) };
}

function toInputRequest(form: ReturnType<typeof toForm>) {
  return "url" in form ? inputRequired.elicitUrl(form) : inputRequired.elicit(form);
}

/** Ends without an answer when another person decides first or the patience is over; the call keeps waiting then. */
async function askByPush(
  conversation: Conversation,
  approval: Approval,
  ask: Extract<Person, { kind: "pushed" }>["ask"],
): Promise<void> {
  const { clientApprovals, principal, left, signal, problems } = conversation;
  const { id, execution } = approval;
  left.add(id);
  const done = new AbortController();
  const ended = AbortSignal.any([done.signal, signal]);
  const isSettled = async (): Promise<boolean> => {
    const waiting = await clientApprovals.waiting(principal, execution).catch(() => undefined);
    return waiting !== undefined && !waiting.includes(id);
  };
  const settled = pause(POLL_MS, ended)
    .then(() => pollUntil(isSettled, ended))
    .then(() => done.abort());
  const rawAnswer = await ask(toForm(approval, guideOf(approval, conversation)), ended).catch(() => undefined);
  const answer = parseAnswer(rawAnswer, { mayApprove: canApprove(approval), id });
  done.abort();
  await settled;
  const noted = problems.get(id)?.length ?? 0;
  if (answer)
    await clientApprovals.answer(principal, id, answer).catch((thrown: unknown) => noteRefusal(thrown, id, problems));
  const tries = problems.get(id)?.length ?? 0;
  if (tries > noted && tries < MAX_ANSWERS) left.delete(id);
}
