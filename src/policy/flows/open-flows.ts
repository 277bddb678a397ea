/**
 * Tracks what each client session has read, and requires approval before that data can leave. If a client has no
 * sessions, all requests of its principal are one session, which is stored and survives a restart. Sessions that a
 * client can replace by a new one pass their labels on through it: the model behind them remembers.
 */

import type {
  CallPlan,
  CatalogSnapshot,
  Decision,
  ExecutionId,
  Instant,
  LabelSource,
  Principal,
  PrincipalId,
  Reply,
  Tool,
  ToolCall,
} from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { HOUR_MS, MINUTE_MS, createRecent, pollEvery } from "../../timing/index.ts";
import { isStartCall, judgeFlow } from "./judge-flow.ts";

export interface ExecutionFlow {
  /** Follows one call. */
  arrive(): CallFlow;
  sources(): readonly LabelSource[];
  /** Returns what the session will have read once the result of this call is delivered. */
  sourcesWith(tool: Tool, seq: number): readonly LabelSource[];
}

export interface CallFlow {
  /** Decides by what the session has read by now. Returns `undefined` if the guard does not apply. */
  judge(call: ToolCall, tool: Tool): Decision | undefined;
  /** Call it when the call may leave, after `judge`. */
  leave(): void;
  /** Call it when the call has ended or waits for a person. */
  settle(): void;
  /**
   * Await it before the reply is delivered; `undefined` if it brings nothing. A failure contains data too; a refusal of
   * an unsent call contains none. With both labels, it waits until the calls that left without the guard have settled:
   * otherwise a program that ends by what it read, which cancels them, would tell something.
   */
  deliver(reply: Reply, isSent: boolean): Promise<unknown> | undefined;
}

export interface Flows extends AsyncDisposable {
  /** Uses the current state of the session: the program was written before. */
  open(execution: FlowSubject): ExecutionFlow;
  /** For data that reaches a client without a call: stored results and results of other executions. */
  takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
  sourcesOf(execution: ExecutionId): readonly LabelSource[];
}

export interface FlowSubject {
  readonly principal: Principal;
  readonly execution: ExecutionId;
  readonly snapshot: CatalogSnapshot;
  /** The calls of the program as analysis found them; absent for direct calls and without analysis. */
  readonly plan?: CallPlan;
}

interface FlowsOptions {
  readonly settings: {
    /** The decision about a call that completes a flow. */
    readonly flows: Decision["kind"];
    /** How long after the last labeled read of a principal its new sessions inherit labels; 0 for never. */
    readonly labelMs: number;
  };
  readonly store: Pick<Store, "labels" | "meta">;
  readonly now: () => Instant;
  /** How often to look whether another process has cleared labels; by default never. */
  readonly everyMs?: number;
}

/** The labels of a principal without sessions expire after this time without labeled reads. */
export const FORGET_MS = 8 * HOUR_MS;
/** How far the stored time of a principal's last labeled read may lag. */
const REFRESH_MS = MINUTE_MS;
/** When labels of this store were first passed on: what an earlier version stored stays as it was. */
const SINCE_KEY = "labels.since";
/** Where gateways notice that labels were cleared: the value changes each time. */
export const CLEARED_KEY = "labels.cleared";
/** More than the executions that can run in parallel. */
const MAX_EXECUTIONS = 1_000;
/** Above this number, the session that was idle longest is forgotten. */
const MAX_SESSIONS = 10_000;

interface FlowSession {
  readonly taken: Map<LabelSource["label"], LabelSource>;
  readonly principal: PrincipalId;
  /** `stored`: all requests without a session. `passed on`: labels go to the stored one, too. */
  readonly kept: "stored" | "passed on" | "alone";
  takenAt: Instant;
  writtenAt: Instant;
  /** How often labeled data was delivered. */
  reads: number;
  /** The program that arrived last: of concurrent ones, only this may make exempt calls. */
  latest: ExecutionId | undefined;
  /** Inherited data may be in every constant of the session, so no call is exempt. */
  readonly isInherited: boolean;
}

export async function openFlows({ settings, store, now, everyMs }: FlowsOptions): Promise<Flows> {
  const sessions = createRecent<string, FlowSession>(MAX_SESSIONS);
  const executions = createRecent<ExecutionId, FlowSession>(MAX_EXECUTIONS);
  const { flows: mode, labelMs } = settings;
  const forgetMs = toForgetMs(labelMs);
  let mark = await store.meta.get(CLEARED_KEY);
  const since = Number(await store.meta.claim(SINCE_KEY, String(now())));
  const stored = await store.labels.list(now() - forgetMs);
  for (const row of stored.toSorted((one, other) => one.takenAt - other.takenAt))
    sessions.set(keyOf({ id: row.principal }), fromRow(row));

  const find = (principal: FlowPrincipal): FlowSession => {
    const key = keyOf(principal);
    const known = sessions.get(key);
    const isOver = known?.kept === "stored" && now() - known.takenAt >= forgetMs;
    const session = known && !isOver ? known : createSession(principal, inheritedBy(principal));
    sessions.set(key, session);
    return session;
  };

  /** Looked up each time, which keeps it from being dropped before the sessions that it stands for. */
  const inheritedBy = ({ id, session, passesLabels }: FlowPrincipal): Inheritance => {
    if (session === undefined || !passesLabels || labelMs === 0) return { passes: false };
    const own = sessions.get(keyOf({ id }));
    const isFresh = own && own.takenAt >= since && now() - own.takenAt < labelMs;
    return { passes: true, ...(isFresh && { from: own }) };
  };

  const take = async (session: FlowSession, sources: readonly LabelSource[]): Promise<void> => {
    if (sources.length === 0) return;
    session.reads += 1;
    const fresh = sources.filter(({ label }) => !session.taken.has(label));
    for (const source of fresh) if (!session.taken.has(source.label)) session.taken.set(source.label, source);
    session.takenAt = now();
    if (session.kept === "passed on") return take(find({ id: session.principal }), sources);
    const { kept, takenAt, writtenAt } = session;
    if (kept === "alone" || (fresh.length === 0 && takenAt - writtenAt < REFRESH_MS)) return;
    await write(session);
  };

  const write = (session: FlowSession): Promise<void> => {
    const { principal, taken, takenAt } = session;
    session.writtenAt = takenAt;
    return store.labels.put({ principal, sources: [...taken.values()], takenAt });
  };

  const followClears = async (): Promise<void> => {
    const current = await store.meta.get(CLEARED_KEY);
    if (current === mark) return;
    const rows = await store.labels.list(now() - forgetMs);
    await clearSessions([...sessions.values()], rows.filter(isCleared), write);
    mark = current;
  };
  const polling = everyMs === undefined ? undefined : pollEvery(everyMs, followClears);

  return {
    open(subject) {
      const session = find(subject.principal);
      executions.set(subject.execution, session);
      return createFlow(subject, session, mode, take);
    },
    takeIn: (principal, sources) => take(find(principal), sources),
    sourcesOf: (execution) => [...(executions.get(execution)?.taken.values() ?? [])],
    [Symbol.asyncDispose]: async () => polling?.[Symbol.asyncDispose](),
  };
}

/** What was read after the clearing keeps its session labeled as a whole, until the labels are cleared again. */
async function clearSessions(
  sessions: readonly FlowSession[],
  rows: readonly { readonly principal: PrincipalId; readonly takenAt: Instant }[],
  write: (session: FlowSession) => Promise<void>,
): Promise<void> {
  const clearedAt = new Map(rows.map(({ principal, takenAt }) => [principal, takenAt]));
  for (const session of sessions) {
    const at = clearedAt.get(session.principal);
    if (at === undefined) continue;
    if (session.takenAt <= at) session.taken.clear();
    else if (session.kept === "stored") await write(session);
  }
}

type FlowPrincipal = Pick<Principal, "id" | "session" | "passesLabels">;

interface Inheritance {
  readonly passes: boolean;
  readonly from?: FlowSession;
}

function createSession({ id, session }: FlowPrincipal, { passes, from }: Inheritance): FlowSession {
  return {
    taken: new Map(from?.taken),
    principal: id,
    kept: session === undefined ? "stored" : passes ? "passed on" : "alone",
    takenAt: from?.takenAt ?? 0,
    writtenAt: 0,
    reads: 0,
    latest: undefined,
    isInherited: from !== undefined && from.taken.size > 0,
  };
}

function fromRow({ principal, sources, takenAt }: Parameters<Store["labels"]["put"]>[0]): FlowSession {
  const taken = new Map(sources.map((source) => [source.label, source]));
  const unused = { reads: 0, latest: undefined, isInherited: true };
  return { taken, principal, kept: "stored", takenAt, writtenAt: takenAt, ...unused };
}

/** How long labels of principals are stored. */
export function toForgetMs(labelMs: number): number {
  return Math.max(FORGET_MS, labelMs);
}

/** Clearing leaves a row without labels, at the time of the clearing, for the gateways that run. */
export function isCleared({ sources }: { readonly sources: readonly LabelSource[] }): boolean {
  return sources.length === 0;
}

/** Names contain no NUL character. */
function keyOf({ id, session }: Pick<Principal, "id" | "session">): string {
  return session === undefined ? id : `${id}\0${session}`;
}

/** Returns true if the gateway refused the call, so that the reply contains no upstream data. */
function isRefused(reply: Reply, isSent: boolean): boolean {
  if (reply.ok) return false;
  const { code } = reply.error;
  return code.startsWith("POLICY_") || (!isSent && (code === "LIMIT_QUOTA" || code === "EGRESS_DENIED"));
}

function createFlow(
  { execution, snapshot, plan }: FlowSubject,
  session: FlowSession,
  mode: Decision["kind"],
  take: (session: FlowSession, sources: readonly LabelSource[]) => Promise<void>,
): ExecutionFlow {
  // The author of the program had already read both, so its literal arguments may contain them.
  const wasTainted = session.taken.size === 2 || session.isInherited;
  session.latest = execution;
  /** More reads than this are those of other programs: they could decide whether the calls of this one succeed. */
  let ownReads = session.reads;
  const leaving = new Map<object, PromiseWithResolvers<void>>();
  const toSources = (tool: Tool, seq: number): readonly LabelSource[] =>
    (tool.labels ?? []).flatMap((label) =>
      label === "external" ? [] : [{ label, tool: tool.address, execution, seq }],
    );
  const isAlone = (): boolean => session.latest === execution && session.reads === ownReads;
  const isFree = (call: ToolCall): boolean => !wasTainted && isAlone() && isStartCall(call, plan, snapshot);
  return {
    arrive() {
      let brings: readonly LabelSource[] = [];
      let isUnguarded = false;
      const key = {};
      return {
        judge(call, tool) {
          brings = toSources(tool, call.seq);
          const decision = judgeFlow({ tool, taken: session.taken, mode });
          isUnguarded = !decision && mode !== "allow" && tool.labels?.includes("external") === true;
          return decision && isFree(call) ? undefined : decision;
        },
        leave: () => void (isUnguarded && leaving.set(key, Promise.withResolvers())),
        settle() {
          leaving.get(key)?.resolve();
          leaving.delete(key);
        },
        deliver(reply, isSent) {
          const isRead = brings.length > 0 && !isRefused(reply, isSent);
          if (isRead) ownReads += 1;
          const taken = isRead ? take(session, brings) : undefined;
          if (leaving.size === 0 || session.taken.size < 2) return taken;
          return Promise.all([taken, ...[...leaving.values()].map(({ promise }) => promise)]);
        },
      };
    },
    sources: () => [...session.taken.values()],
    sourcesWith: (tool, seq) => {
      const fresh = toSources(tool, seq).filter(({ label }) => !session.taken.has(label));
      return [...session.taken.values(), ...fresh];
    },
  };
}
