/**
 * Opens the port. The application is created afterwards, when its own address is known. An address that other machines
 * can reach is opened only if a client can log in.
 */

import { ServerResponse, createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { ServerOptions, Server as TlsServer } from "node:https";
import { setTimeout as delay } from "node:timers/promises";

import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";

import { GloveboxError } from "../../domain/index.ts";
import type { ClientConnection } from "./authenticate.ts";
import type { App } from "./create-app.ts";
import { isLoopback } from "./guard.ts";
import { watchCertificate } from "./certificate.ts";
import type { CertificateFiles } from "./certificate.ts";
import { canFindOwners, findPeerOwner } from "./peer-owner.ts";

interface ListenOptions {
  /** Called once before the first request, with the port that was opened. */
  readonly createApp: (port: number) => App;
  readonly host: string;
  /** True if requests of other machines are answered only after a login. */
  readonly allowsRemote?: boolean;
  readonly tls?: CertificateFiles | undefined;
  /** Called with the error of a certificate that cannot be read again; the former one stays. */
  readonly warn?: (thrown: unknown) => void;
  /** The user of this process; clients of other users are not its own. */
  readonly uid?: number | undefined;
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
  /** `http://host:port` or `https://host:port`, without a slash at the end. */
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

/** Rejects with `LISTEN_FAILED` if the port cannot be opened, or if other machines can reach it without a login. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { createApp, host, port, limits = LISTEN_LIMITS, allowsRemote = false, tls } = options;
  if (!isLoopback(host) && !allowsRemote) {
    throw new GloveboxError("LISTEN_FAILED", `${host} can be reached from other machines, and no client could log in`, {
      hint: "Create an access token first (`glovebox tokens create`), or listen on 127.0.0.1",
    });
  }
  const timeouts = {
    requestTimeout: limits.requestMs,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, limits.requestMs),
    connectionsCheckingInterval: CHECK_MS,
  };
  const certificate = tls && watchCertificate(tls, options.warn);
  const server = certificate ? openTls({ ...timeouts, ...certificate.current() }) : createServer(timeouts);
  if ("setSecureContext" in server) certificate?.onChange((changed) => server.setSecureContext(changed));
  server.maxConnections = limits.connections;
  // Before the port is open: from then on nothing may wait, because a request without a listener is never answered.
  const describe = await createDescribe(options.uid);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(toListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const opened = typeof address === "object" && address ? address.port : port;
  const app = makeApp(server, () => createApp(opened));
  const open: OpenAnswers = { awaited: new Set(), sending: new Set() };
  const answer = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const response = await app.fetch(request, describe(incoming));
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
    url: `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${opened}`,
    port: opened,
    close: async () => {
      certificate?.close();
      await closeAll(server, app, open);
    },
  };
}

function openTls(options: ServerOptions): TlsServer {
  try {
    return createTlsServer({ ...options, minVersion: "TLSv1.2" });
  } catch (cause) {
    throw new GloveboxError("CONFIG_INVALID", "server.tls: the certificate and the key do not fit together", {
      cause,
      hint: "Use PEM files of one certificate chain and its private key",
    });
  }
}

/** The owner of a connection is looked up once. Where owners cannot be found, every process of this machine counts as own. */
async function createDescribe(
  uid: number | undefined,
): Promise<(incoming: IncomingMessage | object) => ClientConnection> {
  const known = new WeakMap<object, Promise<boolean>>();
  const hasOwners = uid !== undefined && (await canFindOwners());
  return (incoming) => {
    const socket = "socket" in incoming ? incoming.socket : undefined;
    if (!socket) return { address: "", isEncrypted: false, isOfOwner: async () => false };
    const { remoteAddress = "" } = socket;
    return {
      address: remoteAddress,
      isEncrypted: "encrypted" in socket,
      isOfOwner: async () => {
        if (!isLoopback(remoteAddress.replace(/^::ffff:/, ""))) return false;
        const found =
          known.get(socket) ??
          (hasOwners ? findPeerOwner(socket).then((owner) => owner === uid) : Promise.resolve(true));
        known.set(socket, found);
        return found;
      },
    };
  };
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
