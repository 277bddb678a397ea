/**
 * The proxy of one confined server, which has no other way to the network. It answers CONNECT and requests with a whole
 * address, as programs send them that honor `HTTP_PROXY`. Each request passes the checks of every other one.
 */

import { once } from "node:events";
import { createServer, request as send } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer as createListener } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";

import { GloveboxError, toPlace } from "../domain/index.ts";
import type { HostPort } from "../domain/index.ts";

import { parseUrl } from "./check-url.ts";
import { openConnection } from "./connect/pinned-agent.ts";
import type { ConnectionPowers } from "./connect/pinned-agent.ts";
import { resolveHost } from "./connect/resolve-host.ts";
import { admit } from "./reach.ts";
import type { RequestScope } from "./reach.ts";

/** More than a server needs at a time; further connections are closed. */
const MAX_CONNECTIONS = 256;
const KEEP_ALIVE_MS = 5_000;
const HTTP_PORT = "80";
/** Each refusal is a record. After so many they take turns, so that a server cannot fill the ledger with them. */
const REFUSALS_AT_ONCE = 100;
const REFUSAL_MS = 1_000;
/** While so many requests wait for their refusal, others are answered without a look at them. */
const MOST_WAITING = 64;

/** A request that was decided, before anything is sent. */
export interface ProxiedRequest extends HostPort {
  /** Why it is refused; `undefined` if it is allowed. */
  readonly refusal?: GloveboxError;
}

export interface ServerProxyOptions {
  readonly scope: RequestScope;
  /** Called for each request and awaited before it is sent. */
  readonly onRequest: (request: ProxiedRequest) => Promise<void>;
  /** The password that connections must present; without it everyone who can connect may use the proxy. */
  readonly password?: string;
}

/** Disposing ends every connection. */
export interface ServerProxy extends AsyncDisposable {
  /** Takes a listening socket of another network namespace, as a child process passed it. */
  adopt(handle: unknown): void;
  /** Listens at a free port of 127.0.0.1 and returns it. */
  listen(): Promise<number>;
}

export function openServerProxy(options: ServerProxyOptions, powers: ConnectionPowers): ServerProxy {
  return new Proxying(options, powers);
}

class Proxying implements ServerProxy {
  readonly #options: ServerProxyOptions;
  readonly #powers: ConnectionPowers;
  readonly #ending = new AbortController();
  readonly #listeners = new Set<Server>();
  readonly #sockets = new Set<Duplex>();
  readonly #http = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  #waiting = 0;
  #nextRefusalAt = Number.NEGATIVE_INFINITY;

  constructor(options: ServerProxyOptions, powers: ConnectionPowers) {
    this.#options = options;
    this.#powers = { ...powers, closing: AbortSignal.any([powers.closing, this.#ending.signal]) };
    this.#http.on("connect", (from: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => socket.destroy());
      this.#tunnel(from, socket, head).catch((thrown: unknown) => {
        const { status, text } = toAnswer(thrown);
        socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n${CHALLENGE}\r\n${text}\n`);
      });
    });
    this.#http.on("request", (from: IncomingMessage, answer: ServerResponse) => {
      this.#forward(from, answer).catch((thrown: unknown) => {
        const { status, text } = toAnswer(thrown);
        if (answer.headersSent) answer.destroy();
        else answer.writeHead(Number(status.slice(0, 3)), { "content-type": "text/plain", connection: "close" });
        answer.end(`${text}\n`);
      });
    });
  }

  adopt(handle: unknown): void {
    this.#open().listen(handle);
  }

  async listen(): Promise<number> {
    const listener = this.#open().listen(0, "127.0.0.1");
    await once(listener, "listening");
    return toPort(listener.address());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    for (const listener of this.#listeners) listener.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#http.closeAllConnections();
  }

  #open(): Server {
    const listener = createListener((socket) => {
      this.#keep(socket);
      this.#http.emit("connection", socket);
    });
    listener.maxConnections = MAX_CONNECTIONS;
    listener.on("error", () => undefined);
    listener.unref();
    this.#listeners.add(listener);
    return listener;
  }

  /** Throws a refusal, after it is recorded. */
  async #connect(url: URL, from: IncomingMessage): Promise<Socket> {
    const { scope, onRequest, password } = this.#options;
    if (password !== undefined && from.headers["proxy-authorization"] !== toCredentials(password)) {
      throw new WrongPassword();
    }
    if (this.#waiting >= MOST_WAITING) throw new TooManyRefusals();
    const { network, closing: signal } = this.#powers;
    const place = toPlace(url);
    let isRecorded = false;
    try {
      const target = await resolveHost(url, admit(scope, url), { network, lane: "program", signal });
      isRecorded = true;
      await onRequest(place);
      return await openConnection({ ...target, isSecure: false }, this.#powers);
    } catch (thrown) {
      if (thrown instanceof GloveboxError) {
        await this.#takeTurn(signal);
        await onRequest({ ...place, refusal: thrown });
      } else if (!isRecorded) await onRequest(place); // a name that cannot be resolved
      throw thrown;
    }
  }

  async #takeTurn(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    this.#nextRefusalAt = Math.max(this.#nextRefusalAt, now - REFUSALS_AT_ONCE * REFUSAL_MS) + REFUSAL_MS;
    if (this.#nextRefusalAt <= now) return;
    this.#waiting += 1;
    try {
      await wait(this.#nextRefusalAt - now, undefined, { signal, ref: false });
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Both ends go together. */
  async #tunnel(from: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const remote = await this.#connect(toTunnelUrl(from.url ?? ""), from);
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    remote.write(head);
    const ways: readonly (readonly [Duplex, Duplex])[] = [
      [socket, remote],
      [remote, socket],
    ];
    for (const [one, other] of ways) {
      this.#keep(one);
      one.on("error", () => other.destroy());
      one.once("close", () => other.destroy());
      one.pipe(other);
    }
  }

  async #forward(from: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = parseUrl(from.url ?? "");
    if (url.protocol !== "http:") throw new GloveboxError("EGRESS_DENIED", "Use CONNECT for https");
    const remote = await this.#connect(url, from);
    this.#keep(remote);
    const outgoing = send({
      createConnection: () => remote,
      method: from.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...withoutHops(from.headers), ...toFraming(from.headers), host: url.host, connection: "close" },
    });
    from.pipe(outgoing);
    from.once("close", () => from.complete || outgoing.destroy());
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once("response", resolve);
      outgoing.once("error", reject);
    });
    answer.writeHead(response.statusCode ?? 502, withoutHops(response.headers));
    response.on("error", () => answer.destroy());
    response.pipe(answer);
  }

  #keep(socket: Duplex): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

function toCredentials(password: string): string {
  return `Basic ${Buffer.from(`glovebox:${password}`).toString("base64")}`;
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

/** Without it the body of a GET or DELETE would follow its request unframed: as another request, without a decision. */
function toFraming({ "transfer-encoding": encoding }: IncomingHttpHeaders): IncomingHttpHeaders {
  return encoding === undefined ? {} : { "transfer-encoding": "chunked" };
}

const CHALLENGE = "Proxy-Authenticate: Basic\r\n";
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

class WrongPassword extends Error {}
class TooManyRefusals extends Error {}

/** `host:port`. Programs also use a tunnel for http, so the port tells which rule applies. */
function toTunnelUrl(target: string): URL {
  const scheme = target.endsWith(`:${HTTP_PORT}`) ? "http" : "https";
  return parseUrl(`${scheme}://${target}`);
}

function toAnswer(thrown: unknown): { readonly status: string; readonly text: string } {
  if (thrown instanceof WrongPassword) return { status: "407 Proxy Authentication Required", text: "Wrong password" };
  if (thrown instanceof TooManyRefusals) {
    return { status: "429 Too Many Requests", text: "Glovebox: too many requests of this server were refused" };
  }
  if (thrown instanceof GloveboxError) return { status: "403 Forbidden", text: `Glovebox: ${thrown.message}` };
  return { status: "502 Bad Gateway", text: "Glovebox: the host cannot be reached" };
}

function toPort(address: AddressInfo | string | null): number {
  if (typeof address === "object" && address) return address.port;
  throw new TypeError("A TCP server has a port");
}
