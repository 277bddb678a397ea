/** The two ways in which a client reaches the gateway. Loaded by the commands that serve; others start faster. */

import { createApp } from "./admin/create-app.ts";
import { listen } from "./admin/listen.ts";
import type { Listener } from "./admin/listen.ts";
import type { HttpDoor } from "./gateway.ts";
import { createMcpRoutes } from "./mcp/create-mcp-routes.ts";

export { serveMcpOverStdio } from "./mcp/serve-stdio.ts";

/** Serves MCP, the admin API and the admin page on one port. Rejects as `listen`. */
export function serveHttp({
  host,
  port,
  ...door
}: HttpDoor & { readonly host: string; readonly port: number }): Promise<Listener> {
  const { gateway, principal, report } = door;
  return listen({
    host,
    port,
    createApp: (allowedHosts) =>
      createApp({
        ...door,
        allowedHosts,
        mcp: createMcpRoutes({ gateway, principal, report }, { now: Date.now }),
      }),
  });
}
