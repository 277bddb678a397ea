/**
 * The sessions of clients that speak a 2025 revision over HTTP: one server instance each, found by an unguessable
 * id, bounded in number, and forgotten when idle. Clients of 2026-07-28 have no sessions.
 */

import { randomBytes } from "node:crypto";

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { RequestId, Server } from "@modelcontextprotocol/server";

import type { Instant } from "../../domain/index.ts";
import { watchBody } from "./watch-body.ts";

/** How many sessions there may be and how long an unused one is kept. */
export interface SessionLimits {
  readonly sessions: number;
  readonly idleMs: number;
  readonly requestBytes: number;
}

/** What sessions are made with. */
export interface SessionsOptions {
  readonly limits: SessionLimits;
  readonly now: () => Instant;
  readonly createServer: () => Server;
}

/** Answers requests of the older era; closing ends every session and with it every execution under way. */
export interface Sessions {
  fetch(request: Request): Promise<Response>;
  servers(): Iterable<Server>;
  close(): Promise<void>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** The ids of the requests that came with one POST, so that they can be cancelled when its client goes away. */
  readonly asked: WeakMap<Request, RequestId[]>;
  usedAt: Instant;
  /** Requests whose answer is not complete. */
  working: number;
  /** Open streams on which the client only waits: they keep a session from expiring, not from being replaced. */
  listening: number;
}

/** 192 random bits: knowing one id says nothing about another. */
const createSessionId = (): string => randomBytes(24).toString("base64url");

/** Holds no timer: what has expired is swept when the next request comes. */
export function openSessions(options: SessionsOptions): Sessions {
  const { limits, now } = options;
  const sessions = new Map<string, Session>();

  return {
    async fetch(request) {
      await sweep(sessions, now() - limits.idleMs);
      const id = request.headers.get("mcp-session-id");
      if (id === null) return openSession(sessions, options, request);
      const session = sessions.get(id);
      if (!session) return refuse(404, -32_001, "Session not found; initialize again");
      return forward(session, request, now);
    },
    servers: () => [...sessions.values()].map(({ server }) => server),
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.transport.close()));
    },
  };
}

/** The transport decides whether this is a proper `initialize`; only then is room asked for, so noise evicts nobody. */
async function openSession(
  sessions: Map<string, Session>,
  { limits, now, createServer }: SessionsOptions,
  request: Request,
): Promise<Response> {
  const server = createServer();
  let isKept = false;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: createSessionId,
    maxRequestBodySize: limits.requestBytes,
    onsessioninitialized: (id) => {
      isKept = sessions.size < limits.sessions || evictOldestIdle(sessions);
      if (isKept) sessions.set(id, session);
    },
  });
  const session: Session = { transport, server, asked: new WeakMap(), usedAt: now(), working: 0, listening: 0 };
  server.onclose = () => void (transport.sessionId !== undefined && sessions.delete(transport.sessionId));
  await server.connect(transport);
  rememberRequests(session);
  const response = await forward(session, request, now);
  if (isKept) return response;
  await server.close();
  return transport.sessionId === undefined ? response : refuse(503, -32_000, "All sessions are busy; try again later");
}

async function forward(session: Session, request: Request, now: () => Instant): Promise<Response> {
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
    const response = await session.transport.handleRequest(request);
    return watchBody(response, onEnd, () => cancelAsked(session, request));
  } catch (error) {
    onEnd();
    throw error;
  }
}

/** The transport hands each message on together with the request that brought it. */
function rememberRequests({ transport, asked }: Session): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (extra?.request && "id" in message && "method" in message) {
      asked.set(extra.request, [...(asked.get(extra.request) ?? []), message.id]);
    }
    receive?.(message, extra);
  };
}

/** There is no resuming here, so an answer that nobody receives is worth nothing, and what it costs is ended. */
function cancelAsked({ transport, asked }: Session, request: Request): void {
  for (const requestId of asked.get(request) ?? []) {
    const params = { requestId, reason: "The client went away" };
    transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }
}

/** `false` when every session has a request under way: a new client must not end another one's work. */
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

function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
