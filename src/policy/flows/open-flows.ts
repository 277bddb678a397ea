/**
 * Keeps what each client session has read, and asks before what it read can leave. A session without a name is all of
 * its principal's requests together: those are written down, so that a restart forgets nothing.
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
import { isLiteralCall, judgeFlow } from "./judge-flow.ts";

/** One execution, as the guard follows it. */
export interface ExecutionFlow {
  /** Remembers what has been delivered until now. To be asked at the moment when a call arrives. */
  arrive(): CallFlow;
  /** What the session has read so far. */
  sources(): readonly LabelSource[];
  /** What the session will have read once the answer of a call is delivered. */
  sourcesWith(tool: Tool, seq: number): readonly LabelSource[];
}

/** One call of an execution, from its arrival to its answer. */
export interface CallFlow {
  /** `undefined` when the guard has nothing to say. */
  judge(call: ToolCall, tool: Tool): Decision | undefined;
  /**
   * To be awaited before the answer is handed to the program. What failed is data too; what was refused brings none.
   * `isSent` says whether anybody may have received the call.
   */
  deliver(reply: Reply, isSent: boolean): Promise<void>;
}

export interface Flows {
  /** Looks at the session as it is now: the program was written before. */
  open(execution: FlowSubject): ExecutionFlow;
  /** For what reaches a client without a call: kept results and the results of other executions. */
  takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
  /** What the session of an execution that runs has read. */
  sourcesOf(execution: ExecutionId): readonly LabelSource[];
}

export interface FlowSubject {
  readonly principal: Principal;
  readonly execution: ExecutionId;
  readonly snapshot: CatalogSnapshot;
  /** What the text of the program tells about its calls; absent for plain calls and without analysis. */
  readonly plan?: CallPlan;
}

export interface FlowsOptions {
  readonly mode: Decision["kind"];
  readonly store: Store["labels"];
  readonly now: () => Instant;
}

/** A principal without sessions starts anew when it has read nothing labelled for so long. */
export const FORGET_MS = 8 * 60 * 60 * 1000;
/** How old the written time of a principal's last reading may get. */
const REFRESH_MS = 60_000;
/** More executions than can run at once. */
const MAX_EXECUTIONS = 1_000;
/** Sessions that have read something; beyond, the one that was idle longest is forgotten. */
const MAX_SESSIONS = 10_000;

interface FlowSession {
  readonly taken: Map<LabelSource["label"], LabelSource>;
  /** Present for a principal without sessions. */
  readonly principal?: PrincipalId;
  takenAt: Instant;
  writtenAt: Instant;
  /** Whether a clean call was made after both labels: of programs that came at the same time only one may. */
  hasSpoken: boolean;
}

/** Reads what principals had read before a restart. */
export async function openFlows({ mode, store, now }: FlowsOptions): Promise<Flows> {
  const sessions = new Map<string, FlowSession>();
  for (const { principal, sources, takenAt } of await store.list(now() - FORGET_MS)) {
    const taken = new Map(sources.map((source) => [source.label, source]));
    sessions.set(keyOf({ id: principal }), { taken, principal, takenAt, writtenAt: takenAt, hasSpoken: true });
  }

  const executions = new Map<ExecutionId, FlowSession>();

  const find = (principal: Principal): FlowSession => {
    const key = keyOf(principal);
    const known = sessions.get(key);
    const isOver = known?.principal !== undefined && now() - known.takenAt >= FORGET_MS;
    const session = known && !isOver ? known : createSession(principal);
    sessions.delete(key); // the last in the map is the one that was used last
    sessions.set(key, session);
    dropOldest(sessions, MAX_SESSIONS);
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
      dropOldest(executions, MAX_EXECUTIONS);
      return createFlow(subject, { mode, session, take });
    },
    takeIn: (principal, sources) => take(find(principal), sources),
    sourcesOf: (execution) => [...(executions.get(execution)?.taken.values() ?? [])],
  };
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

function createSession({ id, session }: Principal): FlowSession {
  return {
    taken: new Map(),
    ...(session === undefined && { principal: id }),
    takenAt: 0,
    writtenAt: 0,
    hasSpoken: false,
  };
}

/** Names hold no NUL character. */
function keyOf({ id, session }: Pick<Principal, "id" | "session">): string {
  return session === undefined ? id : `${id}\0${session}`;
}

/** Whether it was stopped on our side, so that nothing in the answer is anybody's data. */
function isRefused(reply: Reply, isSent: boolean): boolean {
  if (reply.ok) return false;
  const { code } = reply.error;
  return code.startsWith("POLICY_") || (!isSent && (code === "LIMIT_QUOTA" || code === "EGRESS_DENIED"));
}

interface FlowContext {
  readonly mode: Decision["kind"];
  readonly session: FlowSession;
  readonly take: (session: FlowSession, sources: readonly LabelSource[]) => Promise<void>;
}

function createFlow({ execution, snapshot, plan }: FlowSubject, { mode, session, take }: FlowContext): ExecutionFlow {
  // Whoever wrote the program had read both already: nothing in its text is clean.
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
