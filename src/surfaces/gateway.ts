/** What every surface can ask of the product. `main.ts` builds it; a surface never builds a room itself. */

import type { HeldDefinitions, SearchRequest, SearchResult } from "../catalog/index.ts";
import type {
  EngineName,
  ExecutionId,
  ExecutionResult,
  ExecutionStateName,
  Instant,
  IsolationLayer,
  IsolationLevel,
  Json,
  Limits,
  Principal,
  UpstreamStatus,
} from "../domain/index.ts";
import type { Description, Detail } from "../typegen/index.ts";

export interface ExecuteRequest {
  readonly principal: Principal;
  readonly code: string;
  readonly input?: Json;
  /** Can only tighten what the operator set. */
  readonly limits?: Partial<Limits>;
  /** `false` skips the rules of analysis; the sandbox holds without them. For the command line only. */
  readonly analysis?: boolean;
  readonly signal?: AbortSignal;
}

/** One line of the history. */
export interface ExecutionSummary {
  readonly id: ExecutionId;
  readonly principal: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
  readonly state: ExecutionStateName | "running";
  readonly errorCode: string | null;
}

export interface Health {
  readonly version: string;
  readonly engine: EngineName;
  readonly isolation: IsolationLevel;
  readonly layers: readonly IsolationLayer[];
  readonly upstreams: readonly UpstreamStatus[];
  readonly startedAt: Instant;
}

export interface Gateway extends AsyncDisposable {
  /** Never rejects for what a program does; rejects for a request that is wrong in itself or cannot be recorded. */
  execute(request: ExecuteRequest): Promise<ExecutionResult>;
  search(
    principal: Principal,
    query: SearchRequest,
  ): Promise<SearchResult & { readonly servers: readonly UpstreamStatus[] }>;
  /** TypeScript declarations of tools or whole namespaces; names that do not exist are in the answer, too. */
  describe(principal: Principal, names: readonly string[], detail: Detail): Promise<Description>;
  /** Definitions that wait for an operator. For operators' surfaces only: nothing that speaks MCP may touch it. */
  readonly held: HeldDefinitions;
  executions(limit: number): Promise<readonly ExecutionSummary[]>;
  health(): Health;
  close(): Promise<void>;
}
