/** MCP at an address of the embedding program's own server. */

import { LIBRARY, toLibraryPrincipal } from "../../identity/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { McpHandler } from "../gateway.ts";
import type { McpFetchHandler, McpHandlerOptions } from "./glovebox.ts";

const NOT_OPEN = "This handler has no `principal`, so it serves loopback addresses only";
/** Stops pages that a browser shows. Other programs can send any name: only the socket tells where they are. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** `load` is called at the first request. */
export function createMcpFetch(
  load: () => Promise<McpHandler>,
  { principal }: McpHandlerOptions = {},
): McpFetchHandler {
  const identify = async (request: Request): Promise<Principal | undefined> => {
    if (principal === undefined) return LIBRARY;
    const name = typeof principal === "function" ? await principal(request) : principal;
    return name === undefined ? undefined : toLibraryPrincipal(name);
  };
  const handle = async (request: Request): Promise<Response> => {
    const host = hostOf(request);
    if (principal === undefined && !LOOPBACK.test(host.hostname)) {
      return refuse(403, NOT_OPEN);
    }
    const origin = request.headers.get("origin");
    if (origin !== null && URL.parse(origin)?.host !== host.host) {
      return refuse(403, "A page of another origin may not use this address");
    }
    const who = await identify(request);
    if (!who) return refuse(401, "The request is not authenticated");
    return (await load()).handle(request, who);
  };
  const node: McpFetchHandler["node"] = (incoming, outgoing) => {
    const isOpen = principal === undefined && !isLoopback(incoming.socket.remoteAddress);
    void serveNode(isOpen ? async () => refuse(403, NOT_OPEN) : handle, incoming, outgoing);
  };
  return Object.assign(handle, { node });
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
}

/** A server behind a proxy sees another address in the URL than the client asked for. */
function hostOf({ headers, url }: Request): URL {
  return URL.parse(`http://${headers.get("host") ?? ""}`) ?? new URL(url);
}

function refuse(status: 401 | 403, message: string): Response {
  const body = { jsonrpc: "2.0", error: { code: -32_000, message }, id: null };
  return Response.json(body, { status, ...(status === 401 && { headers: { "www-authenticate": "Bearer" } }) });
}

async function serveNode(
  handle: (request: Request) => Promise<Response>,
  ...[incoming, outgoing]: Parameters<McpFetchHandler["node"]>
): Promise<void> {
  const { getRequestListener } = await import("@hono/node-server");
  await getRequestListener(handle, { overrideGlobalObjects: false })(incoming, outgoing);
}
