/** What every surface can ask of the product. `main.ts` builds it; a surface never builds a room itself. */

import type { HeldDefinitions, SearchRequest, SearchResult } from "../catalog/index.ts";
import type {
  CatalogSnapshot,
  EngineName,
  ExecutionResult,
  Instant,
  IsolationLayer,
  Principal,
  UpstreamStatus,
} from "../domain/index.ts";
import type { ApprovalDesk, ClientApprovals } from "../policy/index.ts";
import type { ExecutionControl, OpenedExecutions } from "../execution/index.ts";
import type { Description, DescribeDetail } from "../typegen/index.ts";

export type PlanAnswer = Awaited<ReturnType<Gateway["plan"]>>;

export interface Health {
  readonly version: string;
  readonly engine: EngineName;
  readonly isolation: ExecutionResult["isolation"];
  readonly layers: readonly IsolationLayer[];
  readonly upstreams: readonly UpstreamStatus[];
  readonly startedAt: Instant;
}

export interface Gateway
  extends
    AsyncDisposable,
    Pick<
      OpenedExecutions,
      "callTools" | "execute" | "findMedia" | "open" | "plan" | "readResult" | "resumeNow" | "stop" | "view"
    > {
  /** Absent when the operator does not let MCP clients ask people. */
  readonly clientApprovals?: ClientApprovals;
  /** How long MCP clients are kept waiting for `execute`. */
  readonly patienceMs: number;
  search(
    principal: Principal,
    query: SearchRequest,
  ): Promise<SearchResult & { readonly servers: readonly UpstreamStatus[] }>;
  /** TypeScript declarations of tools or whole namespaces; names that do not exist are in the answer, too. */
  describe(principal: Principal, names: readonly string[], detail: DescribeDetail): Promise<Description>;
  /** Definitions that wait for an operator. For operators' surfaces only: nothing that speaks MCP may touch it. */
  readonly held: HeldDefinitions;
  /** Calls that wait for an operator; likewise. */
  readonly approvals: ApprovalDesk;
  /** What a client is to see beside, or instead of, `execute`. */
  readonly expose: "code" | "tools" | "both";
  /** Whether texts for MCP clients have HTML escaped, for clients that show them as they are. */
  readonly escapeHtml: boolean;
  takeSnapshot(principal: Principal): Promise<CatalogSnapshot>;
  /** The listener hears that some tool is another one. Returns the way to stop listening. */
  onToolsChanged(listener: () => void): () => void;
  executions(limit: number): ReturnType<ExecutionControl["list"]>;
  health(): Health;
  /** What Prometheus reads; absent when metrics are off. */
  readonly metrics?: () => string;
  /** Stops first. */
  close(): Promise<void>;
}
