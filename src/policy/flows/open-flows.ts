/**
 * Tracks what each client session has read, and requires approval before that data can leave. If a client has no
 * sessions, all requests of its principal are one session, which is stored and survives a restart.
 */

import { defined } from "../../domain/index.ts";
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
import { HOUR_MS, MINUTE_MS, createRecent } from "../../timing/index.ts";
import { isLiteralCall, judgeFlow } from "./judge-flow.ts";

export interface ExecutionFlow {
  /** Captures what has been delivered so far. Call it when a call arrives. */
  arrive(): CallFlow;
  sources(): readonly LabelSource[];
  /** Returns what the session will have read once the result of this call is delivered. */
  sourcesWith(tool: Tool, seq: number): readonly LabelSource[];
}

export interface CallFlow {
  /** Returns `undefined` if the guard does not apply. */
  judge(call: ToolCall, tool: Tool): Decision | undefined;
  /** Await it before the reply is delivered. A failure contains data too; a refusal of an unsent call contains none. */
  deliver(reply: Reply, isSent: boolean): Promise<void>;
}

export interface Flows {
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
  readonly mode: Decision["kind"];
  readonly store: Store["labels"];
  readonly now: () => Instant;
}

/** The labels of a principal without sessions expire after this time without labeled reads. */
export const FORGET_MS = 8 * HOUR_MS;
/** How far the stored time of a principal's last labeled read may lag. */
const REFRESH_MS = MINUTE_MS;
/** More than the executions that can run in parallel. */
const MAX_EXECUTIONS = 1_000;
/** Above this number, the session that was idle longest is forgotten. */
const MAX_SESSIONS = 10_000;

interface FlowSession {
  readonly taken: Map<LabelSource["label"], LabelSource>;
  /** Only for a principal without sessions. */
  readonly principal?: PrincipalId;
  takenAt: Instant;
  writtenAt: Instant;
  /** True after one literal call was allowed despite both labels: of concurrent programs only one may make it. */
  hasSpoken: boolean;
}

export async function openFlows({ mode, store, now }: FlowsOptions): Promise<Flows> {
  const sessions = createRecent<string, FlowSession>(MAX_SESSIONS);
  const stored = await store.list(now() - FORGET_MS);
  for (const { principal, sources, takenAt } of stored.toSorted((a, b) => a.takenAt - b.takenAt)) {
    const taken = new Map(sources.map((source) => [source.label, source]));
    sessions.set(keyOf({ id: principal }), { taken, principal, takenAt, writtenAt: takenAt, hasSpoken: true });
  }

  const executions = createRecent<ExecutionId, FlowSession>(MAX_EXECUTIONS);

  const find = (principal: Principal): FlowSession => {
    const key = keyOf(principal);
    const known = sessions.get(key);
    const isOver = known?.principal !== undefined && now() - known.takenAt >= FORGET_MS;
    const session = known && !isOver ? known : createSession(principal);
    sessions.set(key, session);
    return session;
  };

  const take = async (session: FlowSession, sources: readonly LabelSource[]): Promise<void> => {
    if (sources.length === 0) return;
    const fresh = sources.filter(({ label }) => !session.taken.has(label));
    for (const source of fresh) if (!session.taken.has(source.label)) session.taken.set(source.label, source);
    session.takenAt = now();
    const { principal, takenAt, writtenAt } = session;
    if (principal === undefined || (fresh.length === 0 && takenAt - writtenAt < REFRESH_MS)) return;
    session.writtenAt = takenAt;
    await store.put({ principal, sources: [...session.taken.values()], takenAt });
  };

  return {
    open(subject) {
      const session = find(subject.principal);
      executions.set(subject.execution, session);
      return createFlow(subject, session, mode, take);
    },
    takeIn: (principal, sources) => take(find(principal), sources),
    sourcesOf: (execution) => [...(executions.get(execution)?.taken.values() ?? [])],
  };
}

function createSession({ id, session }: Principal): FlowSession {
  return {
    taken: new Map(),
    ...defined({ principal: session === undefined ? id : undefined }),
    takenAt: 0,
    writtenAt: 0,
    hasSpoken: false,
  };
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
  const wasTainted = session.taken.size === 2;
  const toSources = (tool: Tool, seq: number): readonly LabelSource[] =>
    (tool.labels ?? []).flatMap((label) =>
      label === "external" ? [] : [{ label, tool: tool.address, execution, seq }],
    );
  return {
    arrive() {
      const taken = new Map(session.taken);
      let brings: readonly LabelSource[] = [];
      return {
        judge(call, tool) {
          brings = toSources(tool, call.seq);
          const decision = judgeFlow({ tool, taken, mode });
          if (!decision || wasTainted || session.hasSpoken || !isLiteralCall(call, plan, snapshot)) return decision;
          session.hasSpoken = true;
          return undefined;
        },
        async deliver(reply, isSent) {
          if (!isRefused(reply, isSent)) await take(session, brings);
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
