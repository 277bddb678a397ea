/** The records of a store for people: read-only, and for an operator. They start no upstream. */

import type { HeldDefinitions, compareTools, listKnownTools } from "../catalog/index.ts";
import type { Settings } from "../config/index.ts";
import type { Logins, createUpdatePackage } from "../connectors/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { ConnectorId, ExecutionId, JsonObject } from "../domain/index.ts";
import type { ExecutionControl, KeptExecution, ReplayResult, findRecording, showReplay } from "../execution/index.ts";
import type { Identity } from "../identity/index.ts";
import type { LedgerReader } from "../ledger/index.ts";
import type { CLIENTS } from "../onboarding/index.ts";
import type { ApprovalDesk, createAlwaysRules, createLabelDesk, openQuotas } from "../policy/index.ts";
import type { SkillDesk } from "../skills/index.ts";
import type { Vault } from "../vault/index.ts";

/** The records of a store, read-only: creates and starts nothing. */
export interface StoredRecords extends AsyncDisposable {
  readonly history: Pick<ExecutionControl, "list" | "show">;
  /** The tools that these servers listed before. */
  listKnownTools(servers: Iterable<string>): ReturnType<typeof listKnownTools>;
  /** Does not change the ledger. */
  openReader(): LedgerReader;
}

/** Tools that are not as they were accepted. */
export type ToolChanges = Awaited<ReturnType<typeof compareTools>>;

/** The records of a store for an operator: starts no upstream, and works while gateways run. */
export interface OperatorRecords extends AsyncDisposable {
  readonly vault: Vault;
  /** Definitions that wait for an operator. */
  readonly held: HeldDefinitions;
  /** Rules that decisions of people made. */
  readonly rules: ReturnType<typeof createAlwaysRules>;
  /** Labels that new sessions inherit. */
  readonly labels: ReturnType<typeof createLabelDesk>;
  readonly logins: Logins;
  /** The quotas that something counts against now. */
  listQuotas(): ReturnType<ReturnType<typeof openQuotas>["list"]>;
  /** Versions of skills, and decisions about them. */
  readonly skills: SkillDesk;
  /** Packages of servers that start with npx. */
  readonly updatePackage: ReturnType<typeof createUpdatePackage<ToolChanges[number]>>;
  /** The history, and the power to cancel what another process runs. */
  readonly control: ExecutionControl;
  /** People, tokens and sessions. */
  openIdentity(): Promise<Identity>;
  /** The address of the page of a server that runs on this store. */
  findPage(): Promise<string | undefined>;
  /** Calls that wait for an operator. Closed with the records. */
  openDesk(): Promise<ApprovalDesk>;
  /** Asks every gateway on this store to restart one upstream; they poll about once a second. */
  restart(upstream: ConnectorId, actor: string): Promise<void>;
  /** Returns the data of a replay after the ledger has recorded the request. */
  findRecording(id: ExecutionId, access: Parameters<typeof findRecording>[1]): Promise<KeptExecution>;
}

/** What operators do on the page beside the interface of a gateway: the same as with commands. */
export interface OperatorDoor {
  /** Opened for the first change and kept; absent for a store in memory, which only the gateway has. */
  openRecords?: () => Promise<OperatorRecords>;
  /** The same, read-only. */
  readRecords?: () => Promise<StoredRecords>;
  /** As the gateway was started with. */
  readonly settings: Settings;
  /** Opens a sandbox and nothing else. */
  showReplay(kept: KeptExecution, request: Parameters<typeof showReplay>[1]): Promise<ReplayResult>;
  /** Returns an export that needs nothing else, without known secrets. */
  toRecordingFile(kept: KeptExecution): JsonObject;
  /** How a client starts Glovebox. */
  readonly start: Parameters<(typeof CLIENTS)[number]["writeEntry"]>[0];
}

/** In place of opening records that only the gateway has. */
export async function noStore(): Promise<never> {
  throw new GloveboxError("REQUEST_NOT_FOUND", "This gateway keeps its store in memory, so it has no such records", {
    hint: "Set `store.url` to a file",
  });
}
