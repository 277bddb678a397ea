/** Assembles what surfaces can do from the rooms of one gateway. */

import type { createToolSearch } from "../builtins/index.ts";
import type { UpstreamStatus } from "../domain/index.ts";
import { parseDetail } from "../ledger/index.ts";
import type { Store } from "../store/index.ts";
import { ownerOf, runInSlices } from "../timing/index.ts";
import type { Gateway, GatewayExecutions, Health } from "./gateway.ts";

type Taken =
  | "answerTokens"
  | "approvals"
  | "check"
  | "clientApprovals"
  | "close"
  | "describe"
  | "escapeHtml"
  | "expose"
  | "held"
  | "history"
  | "metrics"
  | "onApprovalRequested"
  | "people"
  | "skillFiles"
  | "skills";

interface GatewayParts extends Pick<Gateway, Taken | "patienceMs"> {
  readonly executions: GatewayExecutions;
  readonly ledger: Pick<Store["ledger"], "search">;
  readonly health: Omit<Health, "upstreams">;
  readonly takeView: Gateway["takeSnapshot"];
  readonly statuses: () => readonly UpstreamStatus[];
  /** Each calls the listener when tools have changed, and returns a function to stop. */
  readonly changes: readonly Gateway["onToolsChanged"][];
  readonly search: ReturnType<typeof createToolSearch>;
}

export function createGateway(parts: GatewayParts): Gateway {
  const { executions, ledger, health, takeView, statuses, changes, search, ...rest } = parts;
  return {
    ...executions,
    ...rest,
    takeSnapshot: takeView,
    search: async (principal, query, roomFor) => {
      const view = await takeView(principal, "some");
      await runInSlices(search.prepare(view, query), ownerOf(principal));
      const { servers: own } = principal.access ?? {};
      const servers = statuses().filter(({ name }) => own?.includes(name) ?? true);
      return { ...search(principal, view, query, roomFor?.(servers)), servers };
    },
    records: async (query) =>
      (await ledger.search(query)).map((record) => ({ ...record, detail: parseDetail(record.detail) })),
    health: () => ({ ...health, upstreams: statuses() }),
    onToolsChanged: (listener) => {
      const stops = changes.map((listen) => listen(listener));
      return () => stops.forEach((stop) => stop());
    },
    [Symbol.asyncDispose]: rest.close,
  };
}
