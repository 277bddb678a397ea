/** Asks the operator's proxy for a tunnel to an address, with the operator's credentials if the proxy requires them. */

import { request as requestTunnel } from "node:http";
import type { Socket } from "node:net";

import { GloveboxError, defined } from "../../domain/index.ts";

const MAX_PROXY_HEADER_BYTES = 8192;

/** The operator's account at the proxy. */
export interface ProxyAccount {
  readonly user: string;
  readonly password: string;
}

/** Returns the socket as a tunnel to an address. The proxy is never given a name, so it has none to resolve. */
export type OpenTunnel = (socket: Socket, authority: string, signal: AbortSignal) => Promise<Socket>;

/** `login` is called when a proxy is first used, and again after it refused the account: it may have changed. */
export function createTunnels(login?: () => Promise<ProxyAccount>): OpenTunnel {
  let found: Promise<string> | undefined;
  return async (socket, authority, signal) => {
    try {
      found ??= login?.().then(toAuthorization, refuseUnreadable);
      const authorization = await found?.catch((thrown: unknown) => {
        found = undefined;
        throw thrown;
      });
      const status = await connectThrough(socket, { authority, authorization, signal });
      if (status === 200) return socket;
      if (status !== 407) throw closed();
      found = undefined;
      throw refused(authorization !== undefined);
    } catch (thrown) {
      socket.destroy();
      throw thrown;
    }
  };
}

/** RFC 7617. */
function toAuthorization({ user, password }: ProxyAccount): string {
  return `Basic ${Buffer.from(`${user}:${password}`, "utf8").toString("base64")}`;
}

interface TunnelRequest {
  readonly authority: string;
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}

/** The status of the proxy's answer; 0 if it sent data before its turn. */
function connectThrough(socket: Socket, { authority, authorization, signal }: TunnelRequest): Promise<number> {
  const answered = Promise.withResolvers<number>();
  const request = requestTunnel({
    method: "CONNECT",
    path: authority,
    headers: { host: authority, ...defined({ "proxy-authorization": authorization }) },
    createConnection: () => socket,
    maxHeaderSize: MAX_PROXY_HEADER_BYTES,
    signal,
  });
  request.once("connect", ({ statusCode = 0 }, _tunnel, head: Buffer) => {
    // Nothing was sent to the target yet, so data that is already here comes from the proxy.
    answered.resolve(statusCode === 200 && head.length > 0 ? 0 : statusCode);
  });
  request.once("response", () => answered.resolve(0));
  request.once("error", (cause) => answered.reject(closed(cause)));
  request.end();
  return answered.promise;
}

function closed(cause?: unknown): Error {
  return Object.assign(new Error("The proxy refused the connection", { cause }), { code: "EPROXY" });
}

/** A `GloveboxError`, so that no further address is tried with the wrong credentials. */
function refused(hadCredentials: boolean): GloveboxError {
  const message = hadCredentials
    ? "The proxy refused the user name and password (407)"
    : "The proxy requires a user name and a password (407)";
  return new GloveboxError("UPSTREAM_UNREACHABLE", message, {
    hint: "Ask the operator to check egress.proxyUser and egress.proxyPassword",
  });
}

function refuseUnreadable(cause: unknown): never {
  throw new GloveboxError("UPSTREAM_UNREACHABLE", "Cannot read the proxy password from the vault", {
    cause,
    hint: "Ask the operator to set the secret that egress.proxyPassword names",
  });
}
