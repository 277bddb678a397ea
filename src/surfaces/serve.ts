/** The two ways in which a client reaches the gateway. Loaded by the commands that serve; others start faster. */

import type { Settings } from "../config/index.ts";
import { defined } from "../domain/index.ts";
import { MINUTE_MS } from "../timing/index.ts";
import type { HttpDoor } from "./gateway.ts";

export { serveMcpOverStdio } from "./mcp/serve-stdio.ts";

export interface HttpOptions extends HttpDoor {
  /** `server` of the settings, with the host and the port of the command line. */
  readonly server: Settings["server"];
  /** The file of the store; the token of the owner lies beside it. */
  readonly storePath: string;
  /** The user of this process; `undefined` where users have no numbers. */
  readonly uid: number | undefined;
  readonly warn: (thrown: unknown) => void;
}

export interface HttpServers {
  /** What clients use: `publicUrl`, or the address of the listener. */
  readonly url: string;
  /** The address of the page. */
  readonly pageUrl: string;
  /** Why processes of other users may be served without a token; `undefined` if they are not. */
  readonly openTo: string | undefined;
  close(): Promise<void>;
}

/** In local mode the page can do no more than a command of the same user. */
const STEP_UP_MINUTES = { local: 0, required: 15 } as const;

/**
 * Serves MCP, the API and the page on one address, or the last two on another. Rejects as `listen`. Loads here what
 * standard streams do not need.
 */
export async function serveHttp({ server, storePath, uid, warn, ...door }: HttpOptions): Promise<HttpServers> {
  const { gateway, report, identity } = door;
  const { createApp } = await import("./admin/create-app.ts");
  const { listen } = await import("./admin/listen.ts");
  const { createMcpRoutes } = await import("./mcp/create-mcp-routes.ts");
  const { findOwnAddresses } = await import("./admin/guard.ts");
  const { loadLocalToken } = await import("./admin/local-token.ts");
  const { canFindOwners } = await import("./admin/peer-owner.ts");
  const { host, port, admin, auth, tls, publicUrl, allowedHosts } = server;
  const localToken = auth === "local" ? loadLocalToken(storePath)?.token : undefined;
  const allowsRemote = auth === "required" && (await identity.canAuthenticate());
  const isEncrypted = tls !== undefined;
  const scheme = isEncrypted ? "https" : "http";
  const open = (place: { readonly host: string; readonly port: number }, parts: { mcp: boolean; hasPage: boolean }) =>
    listen({
      ...place,
      allowsRemote,
      ...defined({ tls, uid }),
      warn,
      createApp: (opened) =>
        createApp({
          ...door,
          ...defined({ localToken, proxyToken: server.proxyToken }),
          auth,
          trustedProxies: server.trustedProxies,
          url: trim(publicUrl) ?? `${scheme}://${place.host.includes(":") ? `[${place.host}]` : place.host}:${opened}`,
          addresses: findOwnAddresses({ host: place.host, port: opened, isEncrypted, publicUrl, allowedHosts }),
          pageUrl: () => pageUrl,
          hasPage: parts.hasPage,
          isReachedDirectly: !parts.mcp,
          stepUpMs: MINUTE_MS * (server.sessions.stepUpMinutes ?? STEP_UP_MINUTES[auth]),
          now: Date.now,
          ...(parts.mcp && { mcp: createMcpRoutes({ gateway, report }, { now: Date.now }) }),
        }),
    });
  let pageUrl = "";
  await using opened = new AsyncDisposableStack();
  const main = await open({ host, port }, { mcp: true, hasPage: admin === undefined });
  opened.defer(() => main.close());
  const page = admin && (await open(admin, { mcp: false, hasPage: true }));
  if (page) opened.defer(() => page.close());
  const listeners = opened.move();
  const url = trim(publicUrl) ?? main.url;
  pageUrl = page?.url ?? url;
  const isOpen = auth === "local" && (uid === undefined || !(await canFindOwners()));
  return {
    url,
    pageUrl,
    openTo: isOpen ? "every process of this machine: this system does not tell which user connects" : undefined,
    close: () => listeners.disposeAsync(),
  };
}

function trim(url: string | undefined): string | undefined {
  return url?.replace(/\/$/, "");
}
