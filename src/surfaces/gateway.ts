/** The interface of the product to every surface. The composition root builds it; a surface never builds a room. */

import type { HeldDefinitions, NeededServers, SearchRequest, SearchResult } from "../catalog/index.ts";
import type {
  Approval,
  CatalogSnapshot,
  EngineName,
  ExecutionResult,
  Instant,
  IsolationLayer,
  JsonObject,
  Principal,
  PublicError,
  Tool,
  UpstreamStatus,
} from "../domain/index.ts";
import type { ApprovalDesk, createClientApprovals } from "../policy/index.ts";
import type { Identity, TokenScope } from "../identity/index.ts";
import type { ExecutionControl, OpenedExecutions } from "../execution/index.ts";
import type { LedgerReader } from "../ledger/index.ts";
import type { Description, DescribeDetail } from "../typegen/index.ts";
import type { GatewaySkills } from "../skills/index.ts";
import type { Vault } from "../vault/index.ts";
import type { OperatorDoor } from "./operator-records.ts";
import type { PeopleGuide } from "./reach-people.ts";

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

/** Scopes of a decision that become a rule. Forms of clients do not offer them. */
export const ALWAYS_SCOPES = ["always-arguments", "always-tool"] as const satisfies Parameters<
  ApprovalDesk["propose"]
>[1][];

/** A record of the ledger. */
export interface LedgerLine {
  readonly seq: number;
  readonly at: Instant;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: JsonObject;
  readonly previous: string;
  readonly digest: string;
}

/** What MCP clients may answer for the person behind them. */
export type AnswerableApprovals = NonNullable<ReturnType<typeof createClientApprovals>>;

export type RequestedApproval = Pick<Approval, "id" | "tool" | "effect" | "execution">;

export interface Gateway extends AsyncDisposable, GatewayExecutions {
  /** Absent when the operator does not let MCP clients answer approvals. */
  readonly clientApprovals?: AnswerableApprovals;
  /** How long `execute` keeps MCP clients waiting. */
  readonly patienceMs: number;
  /** `roomFor` returns the most characters of the tools as JSON, given the servers; without it only `limit` counts. */
  search(
    principal: Principal,
    query: SearchRequest,
    roomFor?: (servers: readonly UpstreamStatus[]) => number,
  ): Promise<SearchResult & { readonly servers: readonly UpstreamStatus[] }>;
  /** TypeScript declarations of tools or whole namespaces; unknown names are listed, too. */
  describe(
    principal: Principal,
    names: readonly string[],
    detail: DescribeDetail,
    bounds?: { readonly maxCharacters: number },
  ): Promise<Description>;
  /** The most tokens of an answer to an MCP client. */
  readonly answerTokens: { readonly searchTokens: number; readonly describeTokens: number };
  /** Definitions that wait for an operator. For operators' surfaces only, never for MCP. */
  readonly held: HeldDefinitions;
  /** Approvals of calls. For operators' surfaces only, never for MCP. */
  readonly approvals: ApprovalDesk;
  /** Versions of skills. For operators' surfaces only, never for MCP. */
  readonly skills: GatewaySkills;
  /**
   * The files of an approved skill, verified now. Rejects with SKILL_NOT_APPROVED or SKILL_FROZEN. Absent unless skills are
   * served over MCP.
   */
  readonly skillFiles?: (tool: Tool) => Promise<ReadonlyMap<string, Uint8Array>>;
  /** How a person reaches a waiting approval. */
  readonly people: PeopleGuide;
  /** Calls the listener for every new approval, whichever process requested it. Returns a function that removes it. */
  onApprovalRequested(listener: (approval: RequestedApproval) => void): () => void;
  /** Whether a client sees `execute`, the tools of upstreams, or both. */
  readonly expose: "code" | "tools" | "both";
  /** True when HTML is escaped in text for MCP clients that render it. */
  readonly escapeHtml: boolean;
  /** Waits for all upstreams by default. */
  takeSnapshot(principal: Principal, needed?: NeededServers): Promise<CatalogSnapshot>;
  /** Calls the listener when tools change. Returns a function that removes it. */
  onToolsChanged(listener: () => void): () => void;
  /** All executions, with the power to cancel one. For operators' surfaces only, never for MCP. */
  readonly history: ExecutionControl;
  /** Records of the ledger, newest first. */
  records(query: Parameters<LedgerReader["search"]>[0]): Promise<readonly LedgerLine[]>;
  health(): Health;
  /** Never rejects. Uses an answer that is less than a second old. */
  check(): Promise<GatewayCheck>;
  /** The metrics for Prometheus; absent when they are off. */
  readonly metrics?: () => string;
  /** Stops all executions, then closes every room. */
  close(): Promise<void>;
}

/** A gateway of the command line, which also knows who uses it. */
export interface OpenGateway extends Gateway {
  readonly identity: Identity;
  /** The principal of local clients. */
  readonly agent: Principal;
  readonly vault: Pick<Vault, "list" | "remove" | "set">;
}

/** Everything that the MCP surface needs from the rest of the product. */
export interface McpDoor {
  readonly gateway: Gateway;
  /** The client; every request through this door is made in its name. */
  readonly principal: Principal;
  /** Logs an internal fault and returns the id of the incident, which is all that the client sees. */
  readonly report: (thrown: unknown) => string;
}

/** The door of requests whose principal is known with each of them. */
export type SharedDoor = Omit<McpDoor, "principal">;

/** What the credential of a caller allows, and for how long. */
export interface McpCaller {
  /** Throws if the caller lacks one of the scopes that the messages need. */
  admit(needed: readonly TokenScope[]): void;
  /** False once the credential has ended. Must not reject. */
  isValid(): Promise<boolean>;
}

/**
 * Answers requests to `/mcp` in the name of their principals: `POST`, `GET` and `DELETE`; other methods get 405. Closing
 * ends all work behind it.
 */
export interface McpHandler {
  handle(request: Request, principal: Principal, caller?: McpCaller): Promise<Response>;
  close(): Promise<void>;
}

/** What the HTTP server needs; it reads nothing from the environment. */
export interface HttpDoor extends SharedDoor {
  /** Knows who makes a request. */
  readonly identity: Identity;
  /** The folder of the built admin page; everything else works without it. */
  readonly webFolder: string;
  readonly operator: OperatorDoor;
}
