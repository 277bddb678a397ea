/**
 * Opens the port on loopback only, because Glovebox has no login yet. The application is created afterwards, when its
 * own address is known.
 */

import { ServerResponse, createServer } from "node:http";
import type { Server } from "node:http";
import { isIPv4 } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";

import { GloveboxError } from "../../domain/index.ts";
import type { App } from "./create-app.ts";
import { loopbackHosts } from "./guard.ts";

interface ListenOptions {
  /** Called once before the first request, with the valid Host headers. */
  readonly createApp: (allowedHosts: ReadonlySet<string>) => App;
  /** `localhost`, `::1` or an address that starts with 127. */
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly limits?: ListenLimits;
}

/** What clients may hold open. */
interface ListenLimits {
  /** Time for a whole request to arrive. The answer may take longer. */
  readonly requestMs: number;
  /** Further connections are closed at once. */
  readonly connections: number;
}

/** An open port. */
export interface Listener {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Answers open requests, then ends sessions and connections, including kept-alive ones. */
  close(): Promise<void>;
}

/** Answers that closing waits for. */
interface OpenAnswers {
  /** The application has not answered yet. */
  readonly awaited: Set<ServerResponse>;
  /** The application has answered; these must not be refused. */
  readonly sending: Set<ServerResponse>;
}

const LISTEN_LIMITS: ListenLimits = Object.freeze({ requestMs: 30_000, connections: 512 });

/** Time limit for the headers of a request. */
const HEADERS_TIMEOUT_MS = 10_000;

/** The interval in which Node looks for requests above their time limits. Its default is 30 seconds. */
const CHECK_MS = 1_000;

/** Time limit for sending the last answers, and the polling interval. */
const ANSWER_MS = 250;
const LOOK_MS = 10;
const CLOSING = JSON.stringify({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_000, message: "Glovebox is shutting down; try again after the restart" },
});

/** Rejects with `LISTEN_FAILED` if the port cannot be opened or is not on loopback. */
export async function listen({ createApp, host, port, limits = LISTEN_LIMITS }: ListenOptions): Promise<Listener> {
  if (!isLoopback(host)) {
    throw new GloveboxError(
      "LISTEN_FAILED",
      `${host} can be reached from other machines, and Glovebox has no login yet`,
      {
        hint: "Listen on 127.0.0.1 and let others connect through a tunnel",
      },
    );
  }
  const server = createServer({
    requestTimeout: limits.requestMs,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, limits.requestMs),
    connectionsCheckingInterval: CHECK_MS,
  });
  server.maxConnections = limits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(toListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const opened = typeof address === "object" && address ? address.port : port;
  const app = makeApp(server, () => createApp(loopbackHosts(opened, host)));
  const open: OpenAnswers = { awaited: new Set(), sending: new Set() };
  const answer = getRequestListener(
    async (request, { outgoing }) => {
      const response = await app.fetch(request);
      if (outgoing.headersSent) {
        // Closing has already sent 503.
        await response.body?.cancel();
        return RESPONSE_ALREADY_SENT;
      }
      if (outgoing instanceof ServerResponse && open.awaited.delete(outgoing)) open.sending.add(outgoing);
      return response;
    },
    { overrideGlobalObjects: false },
  );
  server.on("request", (incoming, outgoing) => {
    // GET requests are not awaited: those of a browser are short, and those of MCP are endless streams.
    if (incoming.method !== "GET") open.awaited.add(outgoing);
    outgoing.once("close", () => open.awaited.delete(outgoing) || open.sending.delete(outgoing));
    void answer(incoming, outgoing);
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${opened}`,
    port: opened,
    close: () => closeAll(server, app, open),
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "another program uses it"],
  ["EACCES", "this user may not open it"],
  ["EADDRNOTAVAIL", "this machine does not have that address"],
  ["ENOTFOUND", "the host does not exist"],
]);

function toListenError(cause: Error, host: string, port: number): GloveboxError {
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "unknown";
  const reason = REASONS.get(code) ?? `the system reports ${code}`;
  return new GloveboxError("LISTEN_FAILED", `Cannot listen on ${host}:${port}: ${reason}`, {
    cause,
    hint: "Choose another port with `--port`, or stop the other program",
  });
}

/** Not for an answer that is being sent: it is only ended, because its remaining content is unknown. */
function refuse(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    outgoing.writeHead(503, { "content-type": "application/json", connection: "close" });
    outgoing.end(CLOSING, resolve);
  });
}

/** Closes the port if the application cannot be created. */
function makeApp(server: Server, create: () => App): App {
  try {
    return create();
  } catch (error) {
    server.close();
    throw error;
  }
}

/** Stops new connections first, then running work, then sends its answers, then closes the remaining connections. */
async function closeAll(server: Server, app: App, { awaited, sending }: OpenAnswers): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await app.stop();
  for (let left = ANSWER_MS; left > 0 && awaited.size + sending.size > 0; left -= LOOK_MS) await delay(LOOK_MS);
  await Promise.race([Promise.all([...awaited].map(refuse)), delay(ANSWER_MS)]);
  await app.close();
  server.closeAllConnections();
  await closed;
}
