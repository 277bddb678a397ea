/** The two ways in which a client reaches the gateway. Loaded by the commands that serve; others start faster. */

import { createApp } from "./admin/create-app.ts";
import type { AppOptions } from "./admin/create-app.ts";
import { listen } from "./admin/listen.ts";
import type { Listener } from "./admin/listen.ts";
import { createMcpRoutes } from "./mcp/create-mcp-routes.ts";

export { serveMcpOverStdio } from "./mcp/serve-stdio.ts";

export interface HttpOptions extends Omit<AppOptions, "allowedHosts" | "mcp"> {
  readonly host: string;
  readonly port: number;
}

/** Serves MCP, the admin API and the admin page on one port. Rejects as `listen`. */
export function serveHttp({ host, port, ...options }: HttpOptions): Promise<Listener> {
  return listen({
    host,
    port,
    createApp: (allowedHosts) => {
      const { gateway, principal, report } = options;
      const mcp = createMcpRoutes({ gateway, principal, report }, { now: Date.now });
      return createApp({ ...options, mcp, allowedHosts });
    },
  });
}
