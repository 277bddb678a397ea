/** The contract of the sandbox: one program in, one ending out, within limits. */

import type {
  EngineName,
  ExecutionResult,
  GloveboxError,
  IsolationLayer,
  Json,
  Limits,
  LogLine,
  Namespace,
  PrincipalId,
  Program,
  Reply,
} from "../domain/index.ts";

import type { Tape } from "./tape.ts";
import type { ThrownMessage } from "./wire.ts";

/** The only interface of a program. A rejection ends the execution with that error; a refusal is a `Reply`. */
export interface GuestHost {
  /** `seq` is the number of the call, from 1. */
  call(rawAddress: unknown, rawArgs: unknown, seq: number): Promise<Reply>;
}

export interface SandboxJob {
  readonly program: Program;
  readonly namespaces: readonly Namespace[];
  readonly input?: Json;
  readonly limits: Limits;
  /** Gives the program a `fetch` that calls `host`; without it, `fetch` rejects with EGRESS_DENIED. */
  readonly network?: boolean;
  /** Tokens by name, which the program sees as `secrets`. Never secret values: the program can read them. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly host: GuestHost;
  /** The queue serves principals in turn, and the sessions of one principal in turn. */
  readonly principal: PrincipalId;
  readonly session?: string;
  /** It was suspended before: it comes before new executions of its session, and a full queue does not refuse it. */
  readonly isResumed?: boolean;
  readonly signal: AbortSignal;
  /** Fires to suspend the program; it resumes later from its tape. */
  readonly suspend?: AbortSignal;
  /** What the program waits for: a program that only waits gives its place to others. By default for no person. */
  readonly waits?: {
    /** How many of its open calls wait for a person. */
    forPeople(): number;
    /** Suspends it at once; false if it cannot be suspended now. */
    suspend(): boolean;
    /** Calls the listener when the host begins and ends to hold back calls. The program's time stands still meanwhile. */
    watchHolds?(listener: (isHeld: boolean) => void): void;
  };
  readonly tape?: Tape;
  /** Called with the number of open timers that will fire within the program's time. Must not throw. */
  readonly onTimers?: (open: number) => void;
  /** Called with each new console line, without those of an earlier run. Must not throw. */
  readonly onLog?: (line: LogLine) => void;
}

export type ProgramEnding =
  | { readonly kind: "returned"; readonly value: Json | undefined }
  /** The program's own error; its message is untrusted. */
  | { readonly kind: "threw"; readonly thrown: ThrownMessage }
  | { readonly kind: "failed"; readonly error: GloveboxError }
  | { readonly kind: "cancelled" }
  | { readonly kind: "paused" };

export interface SandboxUsage {
  readonly queueMs: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMemoryBytes: number;
  /** Logs and value together; more than the limit when the value is large. */
  readonly outputBytes: number;
  /** How often another engine took the program over. */
  readonly switches: number;
}

export interface SandboxResult {
  readonly ending: ProgramEnding;
  readonly logs: readonly LogLine[];
  readonly usage: SandboxUsage;
  /** The engine that gave it. */
  readonly engine: EngineName;
}

/** How busy a sandbox is now. */
export interface PoolLoad {
  /** Executions in the queue, also those that wait for their place again. */
  readonly waiting: number;
  /** Children that have a program; `idle` counts all others. */
  readonly busy: number;
  readonly idle: number;
  /** The sum of all children; 0 if the platform does not report it. */
  readonly residentBytes: number;
}

/** Whether programs can run: `failed` after several failed starts in a row, until a child starts. */
export type SandboxState =
  | { readonly kind: "starting" | "ready" }
  | { readonly kind: "failed"; readonly error: GloveboxError };

export interface Sandbox extends AsyncDisposable {
  readonly engine: EngineName;
  readonly isolation: ExecutionResult["isolation"];
  readonly layers: readonly IsolationLayer[];
  /** Never rejects: anything that happens to the program, its process or the queue is an ending. */
  run(job: SandboxJob): Promise<SandboxResult>;
  /** Throws LIMIT_BUSY if one more execution of the client, after `coming` others, would be refused. */
  checkQueue(coming: number, client: Pick<SandboxJob, "principal" | "session">): void;
  load(): PoolLoad;
  /** Tries another start if the last ones failed. */
  state(): SandboxState;
  close(): Promise<void>;
}
