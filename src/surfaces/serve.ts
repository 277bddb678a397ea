/** The two ways in which a client reaches the gateway. Loaded by the commands that serve; others start faster. */

import type { Listener } from "./admin/listen.ts";
import type { HttpDoor } from "./gateway.ts";

export { serveMcpOverStdio } from "./mcp/serve-stdio.ts";

/** Serves MCP, the admin API and the admin page on one port. Rejects as `listen`. Loads here what standard streams do not need. */
export async function serveHttp({
  host,
  port,
  ...door
}: HttpDoor & { readonly host: string; readonly port: number }): Promise<Listener> {
  const { gateway, principal, report } = door;
  const { createApp } = await import("./admin/create-app.ts");
  const { listen } = await import("./admin/listen.ts");
  const { createMcpRoutes } = await import("./mcp/create-mcp-routes.ts");
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
