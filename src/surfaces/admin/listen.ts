/**
 * Opens the port, on this machine only: there is no login yet that would keep others out. The application is made
 * after that, because only then its own address is known.
 */

import { createServer } from "node:http";
import type { Server } from "node:http";
import { isIPv4 } from "node:net";
import type { AddressInfo } from "node:net";

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
  /** Ends sessions and connections at once, also those that a client keeps alive. */
  close(): Promise<void>;
}

/** A client that sends its headers slower than this is not one. */
const HEADERS_TIMEOUT_MS = 10_000;

/** Rejects with `LISTEN_FAILED` when the port cannot be had or others could reach it. */
export async function listen({ createApp, host, port }: ListenOptions): Promise<Listener> {
  if (!isLoopback(host)) {
    throw new GloveboxError("LISTEN_FAILED", `${host} can be reached from other machines, and there is no login yet`, {
      hint: "Listen on 127.0.0.1 and let others come in through a tunnel",
    });
  }
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS });
  await openPort(server, host, port);
  const { port: opened } = server.address() as AddressInfo; // it listens on TCP, so it is neither null nor a path
  const app = makeApp(server, () => createApp(loopbackHosts(opened, host)));
  const answer = getRequestListener((request) => app.fetch(request), { overrideGlobalObjects: false });
  server.on("request", (incoming, outgoing) => void answer(incoming, outgoing));
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${opened}`,
    port: opened,
    close: () => closeAll(server, app),
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

/** A port without an application behind it would stay open for nobody. */
function makeApp(server: Server, create: () => App): App {
  try {
    return create();
  } catch (error) {
    server.close();
    throw error;
  }
}

/** No new connection first, then what goes on, then the connections that are left. */
async function closeAll(server: Server, app: App): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await app.close();
  server.closeAllConnections();
  await closed;
}
