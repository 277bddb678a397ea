/**
 * Sessions of clients of the 2025 revisions over HTTP: one server instance each, with an unguessable id, limited in
 * number, and closed when idle. Clients of 2026-07-28 have no sessions.
 */

import { randomBytes } from "node:crypto";

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { RequestId, Server } from "@modelcontextprotocol/server";

import type { Instant, Json } from "../../domain/index.ts";

/** The number of sessions, and how long an unused one is kept. */
export interface SessionLimits {
  readonly sessions: number;
  readonly idleMs: number;
}

interface SessionsOptions {
  readonly limits: SessionLimits;
  readonly now: () => Instant;
  readonly createServer: () => Server;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** The ids of the requests of one POST, to cancel them when the client disconnects. */
  readonly requests: WeakMap<Request, RequestId[]>;
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
    async fetch(request: Request, parsedBody?: Json): Promise<Response> {
      await sweep(sessions, now() - limits.idleMs);
      const id = request.headers.get("mcp-session-id");
      if (id === null) return openSession(sessions, options, request, parsedBody);
      const session = sessions.get(id);
      if (!session) return refuse(404, -32_001, "Session not found; initialize again");
      return forward(session, request, parsedBody, now);
    },
    servers: () => [...sessions.values()].map(({ server }) => server),
    async close(): Promise<void> {
      await Promise.all([...sessions.values()].map((session) => session.transport.close()));
    },
  };
}

/** The transport checks that this is a valid `initialize` before a session is evicted, so invalid requests evict none. */
async function openSession(
  sessions: Map<string, Session>,
  { limits, now, createServer }: SessionsOptions,
  request: Request,
  parsedBody: Json | undefined,
): Promise<Response> {
  const server = createServer();
  let isKept = false;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: createSessionId,
    onsessioninitialized: (id) => {
      isKept = sessions.size < limits.sessions || evictOldestIdle(sessions);
      if (isKept) sessions.set(id, session);
    },
  });
  const session: Session = { transport, server, requests: new WeakMap(), usedAt: now(), working: 0, listening: 0 };
  server.onclose = () => void (transport.sessionId !== undefined && sessions.delete(transport.sessionId));
  await server.connect(transport);
  rememberRequests(session);
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
  session[role] += 1;
  let isOpen = true;
  const onEnd = (): void => {
    if (isOpen) session[role] -= 1;
    isOpen = false;
    session.usedAt = now();
  };
  try {
    const response = await session.transport.handleRequest(request, { parsedBody });
    return watchBody(response, onEnd, () => cancelRequests(session, request));
  } catch (error) {
    onEnd();
    throw error;
  }
}

/** The transport passes each message with the HTTP request that carried it. */
function rememberRequests({ transport, requests }: Session): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (extra?.request && "id" in message && "method" in message) {
      requests.set(extra.request, [...(requests.get(extra.request) ?? []), message.id]);
    }
    receive?.(message, extra);
  };
}

/** Streams cannot be resumed, so the work of an answer without a receiver is cancelled. */
function cancelRequests({ transport, requests }: Session, request: Request): void {
  for (const requestId of requests.get(request) ?? []) {
    const params = { requestId, reason: "The client disconnected" };
    transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }
}

/** Returns `false` if every session has an open request: a new client must not end the work of another. */
function evictOldestIdle(sessions: Map<string, Session>): boolean {
  const idle = [...sessions].filter(([, session]) => session.working === 0);
  const [oldest] = idle.toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
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
export function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
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
