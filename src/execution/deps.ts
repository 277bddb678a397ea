/** Everything that executions need from other rooms. Functions take the part that they use. */

import type { AnalysisResult } from "../analysis/index.ts";
import type { AskDecision, Bridge, BridgeOptions, SkillPowers } from "../bridge/index.ts";
import type { NeededServers } from "../catalog/index.ts";
import type {
  ApiSurface,
  ApprovalRequests,
  CatalogSnapshot,
  Digest,
  Execution,
  ExecutionId,
  ExecutionResult,
  Instant,
  Json,
  LabelSource,
  Limits,
  Principal,
  PrincipalId,
  Program,
  SecretGrants,
  Tool,
} from "../domain/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { SandboxJob, SandboxResult } from "../sandbox/index.ts";
import type { Store } from "../store/index.ts";

import type { ExecutionLog, ExecutionOpening } from "./execution-log.ts";
import type { Journals, Recording } from "./journal.ts";
import type { ResultOwner, Results } from "./kept-results.ts";
import type { AdmitExecution } from "./quotas.ts";
import type { ExecutionRequest } from "./requests.ts";
import type { SettleDeps } from "./settle.ts";

/** What records executions, and recovers those that another process left. */
export interface RecordDeps extends SettleDeps {
  readonly log: ExecutionLog; // store, ledger
  readonly store: Pick<Store, "cancellations" | "executions"> & { readonly ledger: Pick<Store["ledger"], "search"> };
  readonly ledger: Pick<Ledger, "write">;
  readonly journals: Pick<Journals, "read" | "reopen">;
  /** Approvals of its calls. */
  readonly approvals: ApprovalRequests; // policy
  /** Releases the quota of an execution whose process died, except what it can have used. */
  releaseQuota(execution: ExecutionId): Promise<void>; // policy
  /** The name of this process. */
  readonly owner: string;
  /** True when the process of this name has certainly ended. */
  hasEnded(owner: string): boolean;
}

/** In the order in which an execution uses them. */
export interface ExecutionDeps extends RecordDeps {
  readonly createId: () => ExecutionId;
  /** Rejects with STORE_UNAVAILABLE and a message that may be shown while too little is free on the disk. */
  checkSpace(): Promise<void>; // store
  /** Throws LIMIT_BUSY if one more program, after `coming` others, would be refused. */
  checkQueue(coming: number, principal: Principal): void; // sandbox
  readonly admit: AdmitExecution; // policy
  /** Waits for the upstreams that are needed, by default for all. */
  /** The principal of stored records as it is now; `undefined` if it is no longer valid. */
  resolvePrincipal(id: PrincipalId): Promise<Principal | undefined>; // identity
  snapshot(principal: Principal, needed?: NeededServers): Promise<CatalogSnapshot>; // catalog
  declare(snapshot: CatalogSnapshot): ApiSurface; // typegen
  analyze(request: ExecutionRequest, surface: ApiSurface): AnalysisResult; // analysis
  /**
   * Returns the program with findings, or the reason why it does not fit. Lets through what it cannot check. A promise
   * only if the verdict is not known yet.
   */
  check: CheckTypes; // checker
  /** Whether a program starts while its types are checked, or after. */
  readonly typeCheck: "beside" | "before";
  bridge(opening: ExecutionOpening, snapshot: CatalogSnapshot, request: ProgramRequest, hooks: BridgeHooks): Bridge;
  /** True when the program has `fetch`. Each of its requests is decided separately. */
  hasNetwork(request: ExecutionRequest): boolean; // egress
  /** The tokens that stand for secrets in the program, by name. The same for an execution at any time. */
  tokensOf?(execution: Execution, granted?: SecretGrants): Readonly<Record<string, string>> | undefined; // vault
  /** `admitted` is the signal of the request, if the job has another one. */
  run(job: SandboxJob, admitted?: AbortSignal): Promise<SandboxResult>; // sandbox
  keepValue(owner: ResultOwner, value: Json): Promise<NonNullable<ExecutionResult["truncated"]>>; // store

  /** How long the program of a client with forms stays in memory for an approval before it is suspended. */
  readonly graceMs: number;
  /** What calls of skills need; without it they are refused. */
  readonly skills?: SkillDeps | undefined;
  /** What evidence about flows of data needs; without it there is none. */
  readonly evidence?: EvidenceDeps;
  /** Called with the labels of data that reaches a client without a call, before it does. */
  labelSession(principal: Principal, sources: readonly LabelSource[]): Promise<void>; // policy
  /** What the session of a running execution has read. */
  sourcesOf(execution: ExecutionId): readonly LabelSource[]; // policy
  readonly results: Results;
  /** The most that any request may use. */
  readonly limits: Limits;
  readonly now: () => Instant;
  /** True when this process lives long enough to resume executions that others left. */
  readonly isLasting: boolean;
}

/** What calls of skills need. */
export interface SkillDeps {
  /** Rejects with SKILL_NOT_APPROVED or SKILL_FROZEN unless exactly this version may run now. */
  open(tool: Tool, snapshot: CatalogSnapshot): Promise<OpenedSkill>;
  /**
   * The snapshot in which skills have the definitions that a program began with. Those that may no longer run are
   * refused in it.
   */
  keep(snapshot: CatalogSnapshot, began: ReadonlyMap<string, Digest>): Promise<CatalogSnapshot>;
  /** Runs the program of a skill in the place of its caller. `level` is 1 for a skill that a program calls. */
  run(level: number, job: SandboxJob): Promise<SandboxResult>;
}

/** An approved version, verified for one call. */
export interface OpenedSkill {
  /** The program that runs: its code without imports and schemas, called with the global `input`. */
  readonly source: string;
  /** The tools that it was granted, and nothing else. */
  readonly snapshot: CatalogSnapshot;
  /** What it was granted beyond its caller. */
  readonly powers?: SkillPowers | undefined;
}

/** What evidence about flows of data needs. */
export interface EvidenceDeps {
  /** Runs a replay beside everything else: it takes no place of an execution. */
  run(job: SandboxJob): Promise<SandboxResult>;
  /** Called when a program starts that will probably need a replay: starting a child takes as long as the replays. */
  prepare(): void;
  readonly settings: {
    /** For all replays of a call together; 0 turns them off. */
    readonly evidenceMs: number;
    readonly evidenceRounds: number;
  };
  readonly seed: () => readonly number[];
  /** Returns a signal that fires after the time. */
  readonly after: (ms: number) => AbortSignal;
}

export type CheckTypes = (
  program: Program,
  request: ExecutionRequest,
  snapshot: CatalogSnapshot,
) => AnalysisResult | Promise<AnalysisResult>;

/** What a bridge needs besides the request. */
export type BridgeHooks = Pick<
  BridgeOptions,
  "signal" | "approve" | "askInput" | "asked" | "callSkill" | "journal" | "onCalls" | "whenChecked"
>;

/** A request with its program; without one it is a plain tool call. */
export interface ProgramRequest extends ExecutionRequest {
  readonly program?: Program;
}

/** A program that is ready to run. */
export interface ProgramRun {
  readonly snapshot: CatalogSnapshot;
  readonly program: Program;
  /** The check of its types, if it runs beside the program. */
  readonly checking?: Promise<AnalysisResult>;
  /** The journal of an earlier run, and the decisions that it had asked for, by call. */
  readonly recording?: Recording;
  readonly asked?: ReadonlyMap<number, AskDecision>;
}

/** Runs a program from its start, or from where an earlier run was suspended. */
export type RunProgram = (
  opening: ExecutionOpening,
  request: ExecutionRequest,
  run: ProgramRun,
) => Promise<ExecutionResult>;
