/** What every surface can ask of the product. `main.ts` builds it; a surface never builds a room itself. */

import type { HeldDefinitions, SearchRequest, SearchResult } from "../catalog/index.ts";
import type {
  CallPlan,
  CatalogSnapshot,
  EngineName,
  ExecutionId,
  ExecutionResult,
  ExecutionView,
  Finding,
  Instant,
  IsolationLayer,
  Json,
  Principal,
  PublicError,
  ResultQuery,
  UpstreamStatus,
} from "../domain/index.ts";
import type { ApprovalDesk, ClientApprovals } from "../policy/index.ts";
import type {
  BeginRequest,
  CallToolsRequest,
  ToolCallsResult,
  ExecuteRequest,
  ExecutionLine,
  Media,
  ReadResult,
  ViewRequest,
} from "../execution/index.ts";
import type { Description, DescribeDetail } from "../typegen/index.ts";

/** What a program could do, told without running it; or why it could not run. */
export type PlanAnswer =
  | { readonly ok: true; readonly plan: CallPlan; readonly findings: readonly Finding[] }
  | { readonly ok: false; readonly error: PublicError; readonly findings: readonly Finding[] };

export interface Health {
  readonly version: string;
  readonly engine: EngineName;
  readonly isolation: ExecutionResult["isolation"];
  readonly layers: readonly IsolationLayer[];
  readonly upstreams: readonly UpstreamStatus[];
  readonly startedAt: Instant;
}

export interface Gateway extends AsyncDisposable {
  /** Never rejects for what a program does; rejects for a request that is wrong in itself or cannot be recorded. */
  execute(request: ExecuteRequest): Promise<ExecutionResult>;
  /**
   * As `execute`, but answers with state `running` when it takes longer than `patienceMs`; it goes on then, whatever
   * becomes of `signal`, and `resume` tells what came of it.
   */
  begin(request: BeginRequest): Promise<ExecutionView>;
  /** Absent when the operator does not let MCP clients ask people. */
  readonly clientApprovals?: ClientApprovals;
  /** How long MCP clients are kept waiting for `execute`. */
  readonly patienceMs: number;
  /** Leads a program through analysis only. Nothing runs and nothing is recorded. */
  plan(request: ExecuteRequest): Promise<PlanAnswer>;
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
  /** Rejects with REQUEST_NOT_FOUND for what does not exist or is another principal's. */
  view(request: ViewRequest): Promise<ExecutionView>;
  /** Goes on with an execution that is put away, whoever asked for it, once a person has decided. For operators only. */
  resumeNow(execution: ExecutionId): Promise<void>;
  /** A part of a kept result. Rejects as `resume` does. */
  readResult(principal: Principal, handle: string, query: ResultQuery): Promise<ReadResult>;
  /** The files that a value speaks of by handle. */
  findMedia(principal: Principal, value: Json | undefined): Promise<readonly Media[]>;
  /** What a client is to see beside, or instead of, `execute`. */
  readonly expose: "code" | "tools" | "both";
  /** Whether texts for MCP clients have HTML escaped, for clients that show them as they are. */
  readonly escapeHtml: boolean;
  takeSnapshot(principal: Principal): Promise<CatalogSnapshot>;
  /** Never rejects for what a call does, as `execute`. */
  callTools(request: CallToolsRequest): Promise<ToolCallsResult>;
  /** The listener hears that some tool is another one. Returns the way to stop listening. */
  onToolsChanged(listener: () => void): () => void;
  executions(limit: number): Promise<readonly ExecutionLine[]>;
  health(): Health;
  /** What Prometheus reads; absent when metrics are off. */
  readonly metrics?: () => string;
  /** Every execution under way ends as cancelled, and none begins any more. Resolves when they have their results. */
  stop(): Promise<void>;
  /** Stops first. */
  close(): Promise<void>;
}
