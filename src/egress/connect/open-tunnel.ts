/** Asks the operator's proxy for a way to an address, and gives it the operator's credentials if it wants them. */

import { request as requestTunnel } from "node:http";
import type { Socket } from "node:net";

import { GloveboxError } from "../../domain/index.ts";

const MAX_PROXY_HEADER_BYTES = 8192;

/** Who the operator is to the proxy. */
export interface ProxyAccount {
  readonly user: string;
  readonly password: string;
}

/** Gives the value of `Proxy-Authorization`, and forgets it when the proxy did not take it. */
export interface ProxyCredentials {
  find(): Promise<string | undefined>;
  forget(): void;
}

/** They are asked for when a proxy is first used, and again after it refused them: they may have been set anew. */
export function createProxyCredentials(resolve?: () => Promise<ProxyAccount>): ProxyCredentials {
  let found: Promise<string> | undefined;
  const ask = async (): Promise<string> => {
    const { user, password } = (await resolve?.().catch(refuseUnreadable)) ?? { user: "", password: "" };
    return `Basic ${Buffer.from(`${user}:${password}`, "utf8").toString("base64")}`; // RFC 7617
  };
  const forget = (): void => void (found = undefined);
  return {
    find: async () => {
      if (!resolve) return undefined;
      found ??= ask();
      return found.catch((thrown: unknown) => {
        forget();
        throw thrown;
      });
    },
    forget,
  };
}

/** The proxy is told an address, so it has nothing to resolve and nothing to be fooled with. */
export async function openTunnel(
  socket: Socket,
  authority: string,
  { credentials, signal }: { readonly credentials: ProxyCredentials; readonly signal: AbortSignal },
): Promise<Socket> {
  try {
    const authorization = await credentials.find();
    const status = await connectThrough(socket, { authority, authorization, signal });
    if (status === 200) return socket;
    if (status !== 407) throw closed();
    credentials.forget();
    throw refused(authorization !== undefined);
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}

interface TunnelRequest {
  readonly authority: string;
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}

/** The status of the proxy's answer; 0 for one that speaks before its turn. */
function connectThrough(socket: Socket, { authority, authorization, signal }: TunnelRequest): Promise<number> {
  const answered = Promise.withResolvers<number>();
  const request = requestTunnel({
    method: "CONNECT",
    path: authority,
    headers: { host: authority, ...(authorization !== undefined && { "proxy-authorization": authorization }) },
    createConnection: () => socket,
    maxHeaderSize: MAX_PROXY_HEADER_BYTES,
    signal,
  });
  request.once("connect", ({ statusCode = 0 }, _tunnel, head: Buffer) => {
    // Nobody has spoken to the other side yet, so bytes that are here already are the proxy's own.
    answered.resolve(statusCode === 200 && head.length > 0 ? 0 : statusCode);
  });
  request.once("response", () => answered.resolve(0));
  request.once("error", (cause) => answered.reject(closed(cause)));
  request.end();
  return answered.promise;
}

function closed(cause?: unknown): Error {
  return Object.assign(new Error("The proxy does not let the connection through", { cause }), { code: "EPROXY" });
}

/** Typed, so that no further address is tried with credentials that are wrong for all of them. */
function refused(hadCredentials: boolean): GloveboxError {
  const message = hadCredentials
    ? "The proxy does not take the user name and password that it got (407)"
    : "The proxy wants a user name and a password (407)";
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
