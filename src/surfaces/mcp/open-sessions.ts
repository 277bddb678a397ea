/**
 * Sessions of clients of the 2025 revisions over HTTP: one server instance each, with an unguessable id, limited in
 * number, and closed when idle. Clients of 2026-07-28 have no sessions.
 */

import { randomBytes } from "node:crypto";

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { RequestId, Server } from "@modelcontextprotocol/server";

import { isJsonObject } from "../../domain/index.ts";
import type { Instant, Json, Principal } from "../../domain/index.ts";
import { INVALID_REQUEST, describeRepeatedId } from "./repeated-ids.ts";

/** The number of sessions, and how long an unused one is kept. */
export interface SessionLimits {
  readonly sessions: number;
  readonly idleMs: number;
}

interface SessionsOptions {
  readonly limits: SessionLimits;
  readonly now: () => Instant;
  readonly createServer: (principal: Principal) => Server;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  readonly principal: string;
  /** Only this principal with this access can use it: knowing the id is not enough. */
  readonly reach: string;
  /** The requests without an answer, by id, each with all the ids of its POST. */
  readonly open: Map<RequestId, readonly RequestId[]>;
  usedAt: Instant;
  /** Requests without a complete answer. */
  working: number;
  /** Open streams without a request. A session with one does not expire, but can be replaced. */
  listening: number;
}

/** 192 random bits: one id reveals nothing about another. */
const createSessionId = (): string => randomBytes(24).toString("base64url");

/**
 * Answers requests of the older era. Uses no timer: expired sessions are closed at the next request. Closing ends every
 * session with its running executions.
 */
export function openSessions(options: SessionsOptions) {
  const { limits, now } = options;
  const sessions = new Map<string, Session>();

  return {
    async fetch(request: Request, principal: Principal, parsedBody?: Json): Promise<Response> {
      await sweep(sessions, now() - limits.idleMs);
      const id = request.headers.get("mcp-session-id");
      if (id === null) return openSession(sessions, options, { request, principal, parsedBody });
      const session = sessions.get(id);
      if (session?.reach !== toReach(principal)) return refuse(404, -32_001, "Session not found; initialize again");
      return forward(session, request, parsedBody, now);
    },
    servers: () => [...sessions.values()].map(({ server }) => server),
    async close(): Promise<void> {
      await Promise.all([...sessions.values()].map((session) => session.transport.close()));
    },
  };
}

/**
 * The server of a session keeps the principal that opened it. A later token of the same principal may allow less, so it
 * opens a session of its own.
 */
function toReach({ id, access, executionsPerMinute }: Principal): string {
  return JSON.stringify([id, access, executionsPerMinute]);
}

/** The transport checks that this is a valid `initialize` before a session is evicted, so invalid requests evict none. */
async function openSession(
  sessions: Map<string, Session>,
  { limits, now, createServer }: SessionsOptions,
  {
    request,
    principal,
    parsedBody,
  }: { readonly request: Request; readonly principal: Principal; readonly parsedBody: Json | undefined },
): Promise<Response> {
  const server = createServer(principal);
  let isKept = false;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: createSessionId,
    onsessioninitialized: (id) => {
      isKept = sessions.size < limits.sessions || evictOldestIdle(sessions);
      if (isKept) sessions.set(id, session);
    },
  });
  const own = { transport, server, principal: principal.id, reach: toReach(principal) };
  const session: Session = { ...own, open: new Map(), usedAt: now(), working: 0, listening: 0 };
  server.onclose = () => void (transport.sessionId !== undefined && sessions.delete(transport.sessionId));
  const send = transport.send.bind(transport);
  transport.send = (message, related) => {
    if (!("method" in message) && message.id !== undefined) session.open.delete(message.id);
    return send(message, related);
  };
  await server.connect(transport);
  const response = await forward(session, request, parsedBody, now);
  if (isKept) return response;
  await server.close();
  return transport.sessionId === undefined ? response : refuse(503, -32_000, "All sessions are busy; try again later");
}

async function forward(
  session: Session,
  request: Request,
  parsedBody: Json | undefined,
  now: () => Instant,
): Promise<Response> {
  const role = request.method === "GET" ? "listening" : "working";
  session.usedAt = now();
  const ids = findRequestIds(parsedBody);
  const repeated = ids.find((id, at) => session.open.has(id) || ids.indexOf(id) < at);
  if (repeated !== undefined) return refuse(400, INVALID_REQUEST, describeRepeatedId(repeated), repeated);
  for (const id of ids) session.open.set(id, ids);
  session[role] += 1;
  let isOpen = true;
  const onEnd = (): void => {
    if (!isOpen) return;
    isOpen = false;
    session[role] -= 1;
    for (const id of ids) if (session.open.get(id) === ids) session.open.delete(id);
    session.usedAt = now();
  };
  try {
    const response = await session.transport.handleRequest(request, { parsedBody });
    return watchBody(response, onEnd, () => cancelRequests(session, ids));
  } catch (error) {
    onEnd();
    throw error;
  }
}

/** The ids of the requests in one body, which is a message or a batch. The transport checks the rest. */
function findRequestIds(parsedBody: Json | undefined): readonly RequestId[] {
  const messages: readonly (Json | undefined)[] = Array.isArray(parsedBody) ? parsedBody : [parsedBody];
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || typeof message["method"] !== "string") return [];
    const { id } = message;
    return typeof id === "string" || typeof id === "number" ? [id] : [];
  });
}

/** Streams cannot be resumed, so the work of an answer without a receiver is cancelled. */
function cancelRequests({ transport, open }: Session, ids: readonly RequestId[]): void {
  for (const requestId of ids) {
    if (open.get(requestId) !== ids) continue;
    const params = { requestId, reason: "The client disconnected" };
    transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }
}

/**
 * Closes an idle session of the principal that has most of them, so that opening many does not push out others.
 * Returns `false` if every session has an open request: a new client must not end the work of another.
 */
function evictOldestIdle(sessions: Map<string, Session>): boolean {
  const held = Map.groupBy(sessions.values(), ({ principal }) => principal);
  const countOf = ({ principal }: Session): number => held.get(principal)?.length ?? 0;
  const idle = [...sessions].filter(([, session]) => session.working === 0);
  const [oldest] = idle.toSorted(([, a], [, b]) => countOf(b) - countOf(a) || a.usedAt - b.usedAt);
  if (!oldest) return false;
  const [id, session] = oldest;
  sessions.delete(id);
  void session.transport.close();
  return true;
}

async function sweep(sessions: ReadonlyMap<string, Session>, usedBefore: Instant): Promise<void> {
  const expired = [...sessions.values()].filter(
    (session) => session.working + session.listening === 0 && session.usedAt <= usedBefore,
  );
  await Promise.all(expired.map((session) => session.transport.close()));
}

/** A JSON-RPC error as the answer to a whole HTTP request. */
export function refuse(status: number, code: number, message: string, id: RequestId | null = null): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id }, { status });
}

/**
 * Observes the end of a response. Calls `onEnd` exactly once; immediately for a response without a body. Calls `onDrop` first if the receiver
 * disconnected before the end. The returned response replaces the given one.
 */
function watchBody(response: Response, onEnd: () => void, onDrop: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (!body) {
    onEnd();
    return response;
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onEnd();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      onEnd();
      controller.close();
    },
    async cancel(reason) {
      onDrop();
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(watched, { status, statusText, headers });
}
