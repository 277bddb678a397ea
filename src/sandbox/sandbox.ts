/** What the sandbox promises to the rest: one program in, one ending out, within limits. */

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

/** The one door that a program has. A rejection ends the execution with that error; a refusal is a `Reply`. */
export interface GuestHost {
  /** `seq` is the number of the call, from 1. */
  call(rawAddress: unknown, rawArgs: unknown, seq: number): Promise<Reply>;
}

export interface SandboxJob {
  readonly program: Program;
  readonly namespaces: readonly Namespace[];
  readonly input?: Json;
  readonly limits: Limits;
  /** Gives the program a `fetch` that asks `host`; without it, `fetch` only says that there is no network. */
  readonly network?: boolean;
  /** Tokens by name, for the program to have as `secrets`. Never a value: whatever is in it can be read in there. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly host: GuestHost;
  /** Whose turn in the queue it takes. */
  readonly principal: PrincipalId;
  readonly signal: AbortSignal;
  /** Fires when the program is to be put away, to go on later from its tape. */
  readonly suspend?: AbortSignal;
  readonly tape?: Tape;
  /** Hears how many timers are open that will fire within the time of the program. Must not throw. */
  readonly onTimers?: (open: number) => void;
  /** Hears each console line as it comes, but none that an earlier run brought. Must not throw. */
  readonly onLog?: (line: LogLine) => void;
}

export type ProgramEnding =
  | { readonly kind: "returned"; readonly value: Json | undefined }
  /** The program's own error: its words, not ours. */
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
}

export interface SandboxResult {
  readonly ending: ProgramEnding;
  readonly logs: readonly LogLine[];
  readonly usage: SandboxUsage;
}

/** How busy a sandbox is now. */
export interface PoolLoad {
  /** Executions in the queue. */
  readonly waiting: number;
  /** Children that run a program, and all others. */
  readonly busy: number;
  readonly idle: number;
  /** Of all children together; 0 where the system does not tell. */
  readonly residentBytes: number;
}

export interface Sandbox extends AsyncDisposable {
  readonly engine: EngineName;
  readonly isolation: ExecutionResult["isolation"];
  readonly layers: readonly IsolationLayer[];
  /** Never rejects: whatever happens to the program, its process or the queue is an ending. */
  run(job: SandboxJob): Promise<SandboxResult>;
  load(): PoolLoad;
  close(): Promise<void>;
}
