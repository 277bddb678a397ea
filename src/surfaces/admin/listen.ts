/**
 * Opens the port, on this machine only: there is no login yet that would keep others out. The application is made
 * after that, because only then its own address is known.
 */

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isIPv4 } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { getRequestListener } from "@hono/node-server";

import { GloveboxError } from "../../domain/index.ts";
import type { App } from "./create-app.ts";
import { loopbackHosts } from "./guard.ts";

/** Where to listen and what answers. */
export interface ListenOptions {
  /** Called once, before the first request is read, with the Host headers that mean this server. */
  readonly createApp: (allowedHosts: ReadonlySet<string>) => App;
  /** `localhost`, `::1` or an address that starts with 127. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** An open port. */
export interface Listener {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Answers what waits, then ends sessions and connections, also those that a client keeps alive. */
  close(): Promise<void>;
}

/** A client that sends its headers slower than this is not one. */
const HEADERS_TIMEOUT_MS = 10_000;

/** How long answers to what was ended may take on their way out, and how often that is looked at. */
const ANSWER_MS = 250;
const LOOK_MS = 10;
const CLOSING = JSON.stringify({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_000, message: "Glovebox is shutting down; ask again when it runs again" },
});

/** Rejects with `LISTEN_FAILED` when the port cannot be had or others could reach it. */
export async function listen({ createApp, host, port }: ListenOptions): Promise<Listener> {
  if (!isLoopback(host)) {
    throw new GloveboxError("LISTEN_FAILED", `${host} can be reached from other machines, and there is no login yet`, {
      hint: "Listen on 127.0.0.1 and let others come in through a tunnel",
    });
  }
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS });
  await openPort(server, host, port);
  const opened = parsePort(server.address());
  const app = makeApp(server, () => createApp(loopbackHosts(opened, host)));
  const answer = getRequestListener((request) => app.fetch(request), { overrideGlobalObjects: false });
  const waiting = new Set<ServerResponse>();
  server.on("request", (incoming, outgoing) => {
    follow(waiting, incoming, outgoing);
    void answer(incoming, outgoing);
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${opened}`,
    port: opened,
    close: () => closeAll(server, app, waiting),
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

function openPort(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(toListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "another program uses it"],
  ["EACCES", "this user may not open it"],
  ["EADDRNOTAVAIL", "this machine does not have that address"],
  ["ENOTFOUND", "there is no such host"],
]);

function toListenError(cause: Error, host: string, port: number): GloveboxError {
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "unknown";
  const reason = REASONS.get(code) ?? `the system says ${code}`;
  return new GloveboxError("LISTEN_FAILED", `Cannot listen on ${host}:${port}: ${reason}`, {
    cause,
    hint: "Choose another port with `--port`, or stop the other program",
  });
}

/** A stream that has begun is only ended: what it should have said is not known. */
function refuse(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.headersSent) return resolve();
    outgoing.writeHead(503, { "content-type": "application/json", connection: "close" });
    outgoing.end(CLOSING, resolve);
  });
}

/** A port without an application behind it would stay open for nobody. */
function makeApp(server: Server, create: () => App): App {
  try {
    return create();
  } catch (error) {
    server.close();
    throw error;
  }
}

/** A GET of a browser is quick, and one of MCP is a stream without end: nobody waits for its answer. */
function follow(waiting: Set<ServerResponse>, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.method === "GET") return;
  waiting.add(outgoing);
  outgoing.once("close", () => waiting.delete(outgoing));
}

/** No new connection first, then what goes on, then the answers to it, then the connections that are left. */
async function closeAll(server: Server, app: App, waiting: ReadonlySet<ServerResponse>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await app.stop();
  for (let left = ANSWER_MS; left > 0 && waiting.size > 0; left -= LOOK_MS) await delay(LOOK_MS);
  await Promise.race([Promise.all([...waiting].map(refuse)), delay(ANSWER_MS)]);
  await app.close();
  server.closeAllConnections();
  await closed;
}

function parsePort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new TypeError("The server does not listen on TCP");
  return address.port;
}
