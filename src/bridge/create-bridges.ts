/** Opens the bridge of each execution from what a gateway has and what the execution's request says. */

import type { Catalog, Shapes } from "../catalog/index.ts";
import { defined } from "../domain/index.ts";
import type {
  CallPlan,
  CatalogSnapshot,
  Execution,
  ExecutionEvent,
  ExecutionId,
  Json,
  JsonObject,
  LabelSource,
  Limits,
  Principal,
  PrincipalId,
  Program,
  ResultId,
  Tool,
  ToolAddress,
  TraceContext,
} from "../domain/index.ts";
import type { Flows, Policy, openQuotas } from "../policy/index.ts";

import type { Builtin } from "./builtin.ts";
import type { AttachedFile, BridgeOptions } from "./crossing.ts";
import { openBridge } from "./open-bridge.ts";
import type { Bridge } from "./open-bridge.ts";

/** What the bridge reads of a request; without a program it is a plain call of a tool. */
export interface BridgeRequest {
  readonly principal: Principal;
  readonly limits: Limits;
  readonly program?: Program;
  readonly dryRun?: boolean;
  readonly onEvent?: (event: ExecutionEvent) => void;
}

/** An execution that is being written to disk. */
export interface BridgedExecution {
  readonly execution: Execution;
  /** Resolves once its opening is on disk. */
  readonly durable: () => Promise<unknown>;
}

/** What the run of a program decides: when it ends, how it waits for approval, and what the journal keeps. */
export type BridgeRun = Pick<BridgeOptions, "signal" | "approve" | "asked" | "journal" | "onCalls">;

/** Records tokens of secrets outside of requests. */
interface TokenNotices {
  readonly notice: (text: string, place: string, detail: JsonObject) => Promise<void>;
}

export interface BridgesOptions<Request extends BridgeRequest, Lending extends TokenNotices> extends Pick<
  BridgeOptions,
  "ledger" | "report"
> {
  /** Makes the excerpts of arguments and results in records; absent when they hold digests only. */
  readonly preview?: (text: string) => string;
  /** Removes known secrets from the arguments that a dry run lists. */
  readonly hide: (text: string) => string;
  readonly catalog: Pick<Catalog, "connectorOf">;
  readonly policy: Pick<Policy, "decide">;
  readonly flows: Pick<Flows, "open">;
  readonly quotas: Pick<ReturnType<typeof openQuotas>, "take">;
  /** Absent when nothing is to be learned. */
  readonly shapes?: Pick<Shapes, "observe"> | undefined;
  /** Absent when nothing is traced. */
  readonly traces?: { contextOf(execution: ExecutionId, seq: number): TraceContext | undefined } | undefined;
  readonly results: { keepFile(owner: FileOwner, file: AttachedFile): Promise<ResultId> };
  /** Opens the secrets of one execution; `undefined` where none is granted. */
  readonly lend: (execution: Execution) => Lending | undefined;
  /** Finds the calls of a program; `undefined` where the analysis is off. */
  readonly planCalls: (request: Request, snapshot: CatalogSnapshot) => CallPlan | undefined;
  readonly createBuiltins: (context: {
    readonly request: Request;
    readonly snapshot: CatalogSnapshot;
    readonly lending: Lending | undefined;
  }) => ReadonlyMap<ToolAddress, Builtin>;
}

interface FileOwner {
  readonly principal: PrincipalId;
  readonly execution: ExecutionId;
  readonly labels: readonly LabelSource[];
}

export function createBridges<Request extends BridgeRequest, Lending extends TokenNotices>(
  options: BridgesOptions<Request, Lending>,
): (opened: BridgedExecution, snapshot: CatalogSnapshot, request: Request, run: BridgeRun) => Bridge {
  const { ledger, report, preview, hide, catalog, policy, flows, quotas, shapes, traces, results } = options;
  return ({ execution, durable }, snapshot, request, run) => {
    const { principal, limits, program, dryRun = false, onEvent } = request;
    const { id } = execution;
    // Written while the program starts; the opening of one that calls nothing is flushed with its end.
    if (program?.calls.length !== 0) void durable().catch(() => undefined);
    const lending = options.lend(execution);
    const plan = options.planCalls(request, snapshot);
    const flow = flows.open({ principal, execution: id, snapshot, ...defined({ plan }) });
    return openBridge({
      ...run,
      execution: id,
      opened: durable,
      principal,
      snapshot,
      limits,
      ledger,
      report,
      flow,
      ...defined({
        preview,
        plan,
        dryRun: dryRun ? { hide } : undefined,
        onEvent,
        noticeTokens: lending && ((args: string, tool: string) => lending.notice(args, "argument", { tool })),
        learn: shapes && ((tool: Tool, value: Json) => shapes.observe(tool, value)),
        traceOf: traces && ((seq: number) => traces.contextOf(id, seq)),
      }),
      builtins: options.createBuiltins({ request, snapshot, lending }),
      decide: (call, tool) => policy.decide({ call, tool, principal }),
      take: (tool) => quotas.take({ kind: "call", principal, tool }),
      invoke: async (tool, args, how) => catalog.connectorOf(tool).call(tool.origin.remoteName, args, how),
      keepFile: (file, labels) => results.keepFile({ principal: principal.id, execution: id, labels }, file),
    });
  };
}
