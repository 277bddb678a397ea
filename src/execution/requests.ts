/** The three shapes of one request: as a surface parsed it, with its limits resolved, and as the journal keeps it. */

import type {
  ExecutionEvent,
  Finding,
  Json,
  JsonObject,
  Limits,
  NetworkPolicy,
  Principal,
  TraceContext,
} from "../domain/index.ts";

import type { InputWaits } from "./input-waits.ts";

/** A request as a surface parsed it. Limits and policies can only tighten what the operator set. */
export interface ExecuteInput extends ClientRequest {
  readonly source: string;
  readonly input?: Json;
  readonly limits?: Partial<Limits>;
  /** `false` skips the analysis rules; the sandbox does not depend on them. For the command line only. */
  readonly analysis?: boolean;
  /** `false` skips the type check. For the command line only. */
  readonly types?: boolean;
  /** Reads are made; every call that may change something is answered from its schema and listed in the result. */
  readonly dryRun?: boolean;
  /** Requests of one principal with the same key are one execution, so a retry never repeats a call. */
  readonly idempotencyKey?: string;
  readonly networkPolicy?: NetworkPolicy;
  /** Whether an `input` that is a string with a JSON object or array in it is parsed: some MCP clients write JSON twice. */
  readonly parsesInput?: boolean;
}

/** Who sent a request, and how it is observed and cancelled. */
export interface ClientRequest {
  readonly principal: Principal;
  readonly signal?: AbortSignal;
  /** The client's trace, which the spans of the execution join when traces are on. */
  readonly trace?: TraceContext;
  /** Called with what happens in the execution. Must not throw. */
  readonly onEvent?: (event: ExecutionEvent) => void;
  /** True when the client can show forms, and for the library: its program then stays in memory for `approvals.graceMs`. */
  readonly hasForms?: boolean;
  /** True when the client can also show an address that a server asks to open; its program then stays as long. */
  readonly hasUrls?: boolean;
  /** What the request itself needs to be told; listed before the findings about the program. */
  readonly notes?: readonly Finding[];
}

/** A request as the journal keeps it: all that is needed to run the same program again. */
export interface JournaledRequest extends Pick<
  ExecuteInput,
  "principal" | "source" | "input" | "analysis" | "types" | "networkPolicy" | "dryRun"
> {
  readonly limits: Limits;
}

/** A request that runs now, with its limits resolved and the signal of its own execution. */
export interface ExecutionRequest extends JournaledRequest, ClientRequest {
  readonly signal: AbortSignal;
  /** Where the questions are listed that the program waits for in memory; absent for calls without a program. */
  readonly inputs?: Pick<InputWaits, "during">;
}

/** One tool and its arguments. */
export interface PlainCall {
  readonly address: string;
  readonly args: JsonObject;
}

/** Tool calls without a program, made concurrently as one execution. */
export interface CallToolsRequest extends ClientRequest {
  readonly calls: readonly PlainCall[];
}

/** Which execution to look at, and how long to wait for one that runs. */
export interface ViewRequest extends Pick<ClientRequest, "principal" | "signal"> {
  readonly execution: string;
  /** Default: 20 s. */
  readonly waitMs?: number;
}
