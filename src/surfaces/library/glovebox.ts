/** The library as a program that embeds it sees it. `docs/guide/library.md` shows its use. */

import type { IncomingMessage, ServerResponse } from "node:http";

import type { SearchRequest, SearchResult } from "../../catalog/index.ts";
import type {
  Approval,
  ExecutionEvent,
  ExecutionResult,
  ExecutionView,
  JsonObject,
  UpstreamStatus,
} from "../../domain/index.ts";
import type { DescribeDetail } from "../../typegen/index.ts";
import type { SecretSummary } from "../../vault/index.ts";
import type { LibraryRequest } from "../parse-request.ts";

export interface Glovebox extends AsyncDisposable {
  /** Returns the object of `glovebox run --json`. Rejects for an invalid request, or when it cannot be recorded. */
  execute(request: LibraryRequest): Promise<ExecutionResult>;
  /**
   * The same, as what happens in the execution; the last event has the result. Leaving the loop before that cancels the
   * execution.
   */
  events(request: LibraryRequest): AsyncIterableIterator<LibraryEvent>;
  /** Like `execute`, but returns state `running` after `patienceMs` (default: the setting); the execution continues. */
  begin(request: LibraryRequest & { readonly patienceMs?: number }): Promise<ExecutionView>;
  /** Returns the state of an execution; waits for one that runs. */
  resume(request: ResumeRequest): Promise<ExecutionView>;
  search(request: LibrarySearch): Promise<SearchAnswer>;
  /** TypeScript declarations of tools or whole namespaces. */
  describe(request: DescribeRequest): Promise<string>;
  /** Calls that wait for a person. */
  readonly approvals: LibraryApprovals;
  readonly secrets: LibrarySecrets;
  readonly skills: LibrarySkills;
  /** Serves MCP to clients at an address of your own server. */
  mcpHandler(options?: McpHandlerOptions): McpFetchHandler;
  /** Running executions end as `cancelled`; upstreams and child processes end with them. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What happens in an execution, and at the end its result. */
export type LibraryEvent = ExecutionEvent | { readonly kind: "ended"; readonly result: ExecutionResult };

/** The name of one of your people, for whom the program runs. Without it the principal is `library`. */
interface ForPrincipal {
  readonly principal?: string;
}

export interface ResumeRequest extends ForPrincipal {
  readonly execution: string;
  /** How long to wait for an execution that runs. Default: 20,000. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface LibrarySearch extends SearchRequest, ForPrincipal {}

export interface DescribeRequest extends ForPrincipal {
  readonly names: readonly string[];
  readonly detail?: DescribeDetail;
}

export interface SearchAnswer extends SearchResult {
  readonly servers: readonly UpstreamStatus[];
}

/** A person whom your program has authenticated. The ledger names this person. */
export interface ByPerson {
  /** A name of 1 to 64 lower-case letters, digits and `. _ @ + -`, or `operator` for the user of this process. */
  readonly by: string;
  /** What the person may decide. Default: operator and reviewer. */
  readonly roles?: readonly ("agent" | "reviewer" | "operator")[];
}

export interface ApprovalList {
  readonly isPending?: boolean;
  readonly execution?: string;
  /** At most 200. Default: 50, or all of one execution. */
  readonly limit?: number;
}

export interface ApprovalDecision extends ByPerson {
  readonly verdict: "approve" | "reject";
  /** What the decision covers. Default: the one call. The last two become rules of the policy. */
  readonly scope?: "call" | "execution" | "session" | "session-tool" | "always-arguments" | "always-tool";
  /** A comment, which a program whose call was rejected can read. */
  readonly note?: string;
  /** The values of a form that a server asks for. */
  readonly content?: JsonObject;
}

export interface LibraryApprovals {
  /** Pending ones first, then newest first. */
  list(query?: ApprovalList): Promise<readonly Approval[]>;
  /** With whole arguments. Rejects with REQUEST_NOT_FOUND. */
  show(id: string): Promise<Approval>;
  /** Rejects with POLICY_DENIED for a person who may not decide, and REQUEST_CONFLICT for what is decided already. */
  decide(id: string, decision: ApprovalDecision): Promise<Approval>;
  /** Calls the listener for each new approval on the store. Returns a function that removes it. */
  onApproval(listener: (approval: Approval) => void): () => void;
}

export interface LibrarySecrets {
  /** Names and versions; no interface returns a value. */
  list(): Promise<readonly SecretSummary[]>;
  set(name: string, value: string, options?: Pick<Partial<ByPerson>, "by">): Promise<void>;
  /** Returns false if there was none. */
  remove(name: string, options?: Pick<Partial<ByPerson>, "by">): Promise<boolean>;
}

export interface SkillDecision extends ByPerson {
  readonly name: string;
  /** The version, if more than one can be meant. */
  readonly version?: number;
  readonly digest?: string;
  readonly reason?: string;
}

/** One version of a skill. */
export interface LibrarySkill {
  readonly name: string;
  readonly version: number;
  readonly state: "draft" | "pending_review" | "approved" | "rejected" | "revoked" | "retired";
  readonly digest: string;
  readonly author: string;
  readonly createdAt: number;
  /** Why an approved version cannot be called; absent if it can. */
  readonly frozen?: string;
}

export interface LibrarySkills {
  /** By name; of each the newest version first. */
  list(): Promise<readonly LibrarySkill[]>;
  /** Submits the skill in a folder for review. */
  submit(folder: string, person: ByPerson): Promise<LibrarySkill>;
  /** Approves exactly the version that waits, if its tests pass. */
  approve(decision: SkillDecision): Promise<LibrarySkill>;
  /** `reason` is required. */
  reject(decision: SkillDecision): Promise<LibrarySkill>;
  revoke(decision: SkillDecision): Promise<LibrarySkill>;
}

export interface McpHandlerOptions {
  /**
   * The person who sent a request, as your program authenticated it; `undefined` refuses it with 401. Without this
   * option every request with a loopback `Host` is served as `library`: let your server listen on loopback only.
   */
  readonly principal?: string | ((request: Request) => string | undefined | Promise<string | undefined>);
}

/** A handler for frameworks with web-standard requests, such as Hono and Next. */
export interface McpFetchHandler {
  (request: Request): Promise<Response>;
  /** The same for Node's HTTP server and Express. Mount it before anything that reads the body. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
}
