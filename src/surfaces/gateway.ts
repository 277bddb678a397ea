/** The interface of the product to every surface. The composition root builds it; a surface never builds a room. */

import type { HeldDefinitions, NeededServers, SearchRequest, SearchResult } from "../catalog/index.ts";
import type {
  CatalogSnapshot,
  EngineName,
  ExecutionResult,
  Instant,
  IsolationLayer,
  Principal,
  PublicError,
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

/** Whether the gateway can run programs now. */
export interface GatewayCheck {
  /** False also while the sandbox starts, which is not a problem. */
  readonly isReady: boolean;
  /** What does not work: the store, the sandbox or the configuration. */
  readonly problems: readonly PublicError[];
}

export type GatewayExecutions = Pick<
  OpenedExecutions,
  "callTools" | "execute" | "findMedia" | "open" | "plan" | "readResult" | "resumeNow" | "stop" | "view"
>;

export interface Gateway extends AsyncDisposable, GatewayExecutions {
  /** Absent when the operator does not let MCP clients answer approvals. */
  readonly clientApprovals?: ClientApprovals;
  /** How long `execute` keeps MCP clients waiting. */
  readonly patienceMs: number;
  search(
    principal: Principal,
    query: SearchRequest,
  ): Promise<SearchResult & { readonly servers: readonly UpstreamStatus[] }>;
  /** TypeScript declarations of tools or whole namespaces; unknown names are listed, too. */
  describe(principal: Principal, names: readonly string[], detail: DescribeDetail): Promise<Description>;
  /** Definitions that wait for an operator. For operators' surfaces only, never for MCP. */
  readonly held: HeldDefinitions;
  /** Approvals of calls. For operators' surfaces only, never for MCP. */
  readonly approvals: ApprovalDesk;
  /** Whether a client sees `execute`, the tools of upstreams, or both. */
  readonly expose: "code" | "tools" | "both";
  /** True when HTML is escaped in text for MCP clients that render it. */
  readonly escapeHtml: boolean;
  /** Waits for all upstreams by default. */
  takeSnapshot(principal: Principal, needed?: NeededServers): Promise<CatalogSnapshot>;
  /** Calls the listener when tools change. Returns a function that removes it. */
  onToolsChanged(listener: () => void): () => void;
  executions(limit: number): ReturnType<ExecutionControl["list"]>;
  health(): Health;
  /** Never rejects. Uses an answer that is less than a second old. */
  check(): Promise<GatewayCheck>;
  /** The metrics for Prometheus; absent when they are off. */
  readonly metrics?: () => string;
  /** Stops all executions, then closes every room. */
  close(): Promise<void>;
}

/** Everything that the MCP surface needs from the rest of the product. */
export interface McpDoor {
  readonly gateway: Gateway;
  /** The client; every request through this door is made in its name. */
  readonly principal: Principal;
  /** Logs an internal fault and returns the id of the incident, which is all that the client sees. */
  readonly report: (thrown: unknown) => string;
}

/** What the HTTP server needs; it reads nothing from the environment. `principal` is also that of the admin page. */
export interface HttpDoor extends McpDoor {
  /** The principal of decisions with the token. */
  readonly operator: Principal;
  /** Grants access to `/api`; new at every start. */
  readonly token: string;
  /** The folder of the built admin page; everything else works without it. */
  readonly webFolder: string;
}
