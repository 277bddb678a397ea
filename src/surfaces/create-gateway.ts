/** Assembles what surfaces can do from the rooms of one gateway. */

import { createSearch } from "../catalog/index.ts";
import type { UpstreamStatus } from "../domain/index.ts";
import type { ExecutionControl } from "../execution/index.ts";
import type { Gateway, GatewayExecutions, Health } from "./gateway.ts";

type Taken =
  | "approvals"
  | "check"
  | "clientApprovals"
  | "close"
  | "describe"
  | "escapeHtml"
  | "expose"
  | "held"
  | "metrics";

interface GatewayParts extends Pick<Gateway, Taken | "patienceMs"> {
  readonly executions: GatewayExecutions;
  readonly history: Pick<ExecutionControl, "list">;
  readonly health: Omit<Health, "upstreams">;
  readonly takeView: Gateway["takeSnapshot"];
  readonly statuses: () => readonly UpstreamStatus[];
  /** Each calls the listener when tools have changed, and returns a function to stop. */
  readonly changes: readonly Gateway["onToolsChanged"][];
  readonly hide: (text: string) => string;
}

export function createGateway(parts: GatewayParts): Gateway {
  const { executions, history, health, takeView, statuses, changes, hide, ...rest } = parts;
  return {
    ...executions,
    ...rest,
    takeSnapshot: takeView,
    search: async (principal, query) => {
      const found = createSearch(await takeView(principal, "some"))(query);
      const tools = found.tools.map((tool) => ({ ...tool, summary: hide(tool.summary) }));
      return { ...found, tools, servers: statuses() };
    },
    executions: async (limit) => history.list({ limit }),
    health: () => ({ ...health, upstreams: statuses() }),
    onToolsChanged: (listener) => {
      const stops = changes.map((listen) => listen(listener));
      return () => stops.forEach((stop) => stop());
    },
    [Symbol.asyncDispose]: rest.close,
  };
}
