/** What the command line is given: it reaches for nothing itself. */

import type { Readable, Writable } from "node:stream";

import type { LedgerReader } from "../../ledger/index.ts";
import type { HeldDefinitions } from "../../catalog/index.ts";
import type { Settings } from "../../config/index.ts";
import type { ConnectorId, EngineName, ExecutionId, Instant, JsonObject } from "../../domain/index.ts";
import type { Logins } from "../../connectors/index.ts";
import type { KeptExecution, ReplayResult } from "../../execution/index.ts";
import type { ApprovalDesk } from "../../policy/index.ts";
import type { ExecutionControl, ExecutionHistory } from "../../execution/index.ts";
import type { Vault } from "../../vault/index.ts";
import type { Gateway } from "../gateway.ts";

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly cwd: string;
  /** Calls back at the first Ctrl-C or request to end; a second one ends the process at once. */
  onInterrupt(listener: () => void): () => void;
}

/** Past executions, shown again. */
export interface ReplayRequest {
  readonly signal: AbortSignal;
  readonly until?: number;
  readonly code?: string;
  /** Left out, the one that it ran on. */
  readonly engine?: EngineName;
}

export interface ReplayPowers {
  /** From the journal; it is in the ledger who looked. */
  find(
    settings: Settings,
    id: ExecutionId,
    who: { readonly actor: string; readonly action: "execution.exported" | "execution.replayed" },
  ): Promise<KeptExecution>;
  /** A document that needs nothing else, without known secrets. */
  toFile(kept: KeptExecution): JsonObject;
  /** Opens a sandbox and nothing else. */
  show(settings: Settings, kept: KeptExecution, request: ReplayRequest): Promise<ReplayResult>;
}

export interface CliPowers {
  readonly version: string;
  readonly terminal: Terminal;
  /** Where the built admin page is. */
  readonly webFolder: string;
  /** The settings of the named file, of the one that is found, or the built-in ones. */
  loadSettings(explicit: string | undefined): Promise<Settings>;
  /** `unrestrictedNetwork` confirms a configuration that gives programs the whole network. */
  openGateway(
    settings: Settings,
    flags?: { readonly unrestrictedNetwork?: boolean; readonly lasting?: boolean },
  ): Promise<Gateway>;
  openVault(settings: Settings): Promise<Vault>;
  /** To look only: leaves the ledger as it is. */
  openReader(settings: Settings): Promise<LedgerReader & AsyncDisposable>;
  /** Definitions that wait for an operator; starts no upstream. */
  openHeld(settings: Settings): Promise<HeldDefinitions & AsyncDisposable>;
  /** Calls that wait for an operator; starts no upstream, and works while gateways run. */
  openDesk(settings: Settings): Promise<ApprovalDesk & AsyncDisposable>;
  /** What was executed; to look only, and nothing is started. */
  openHistory(settings: Settings): Promise<ExecutionHistory & AsyncDisposable>;
  /** The same, and the way to end what another process runs: only a person at a terminal has this. */
  openControl(settings: Settings): Promise<ExecutionControl & AsyncDisposable>;
  /** Logins to upstreams: only a person at a terminal has this. */
  openLogins(settings: Settings): Promise<Logins & AsyncDisposable>;
  openBrowser(url: URL): void;
  /** Asks every gateway that runs on these settings to restart one upstream; they look about once a second. */
  requestRestart(settings: Settings, upstream: ConnectorId, actor: string): Promise<void>;
  readonly replays: ReplayPowers;
  /** Unguessable; opens the admin page until this start ends. */
  createToken(): string;
  readonly nodeVersion: string;
  readonly now: () => Instant;
  /** Writes an internal fault to the log and returns the incident's id. */
  readonly report: (thrown: unknown) => string;
}

/** How every command ends; `docs/reference/command-line.md` explains the codes. */
export const EXIT = { done: 0, failed: 1, usage: 2, paused: 3, refused: 4, interrupted: 130 } as const;
