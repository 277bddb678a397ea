/** The library: Glovebox inside another program. `docs/guide/library.md` shows its use. */

import { randomUUID } from "node:crypto";

import type { SearchRequest, SearchResult } from "../catalog/index.ts";
import type { ExecutionResult, ExecutionView, Principal, UpstreamStatus } from "../domain/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";
import type { ExecuteInput } from "../execution/index.ts";
import type { Gateway } from "./gateway.ts";
import {
  parseLibraryDescribe,
  parseLibraryRequest,
  parseLibraryResume,
  parsePatience,
  parseSearchArguments,
} from "./parse-request.ts";
import type { LibraryRequest } from "./parse-request.ts";

export interface Glovebox extends AsyncDisposable {
  /** Returns the object of `glovebox run --json`. Rejects for an invalid request, or when it cannot be recorded. */
  execute(request: LibraryRequest): Promise<ExecutionResult>;
  /** Like `execute`, but returns state `running` after `patienceMs` (default: the setting); the execution continues. */
  begin(request: LibraryRequest & { readonly patienceMs?: number }): Promise<ExecutionView>;
  /** Returns the state of an execution; waits for one that runs, by default 20 s (`waitMs`). */
  resume(request: ResumeRequest): Promise<ExecutionView>;
  search(request: SearchRequest): Promise<SearchAnswer>;
  /** TypeScript declarations of tools or whole namespaces. */
  describe(request: { readonly names: readonly string[]; readonly detail?: DescribeDetail }): Promise<string>;
  /** Running executions end as `cancelled`; upstreams and child processes end with them. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ResumeRequest {
  readonly execution: string;
  /** How long to wait for an execution that runs. Default: 20,000. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface SearchAnswer extends SearchResult {
  readonly servers: readonly UpstreamStatus[];
}

export function createLibrary(gateway: Gateway, whole: Principal): Glovebox {
  const instance = randomUUID();
  const principal = { ...whole, session: instance };
  const parseOwn = (raw: unknown): ExecuteInput => {
    const { session, ...request } = parseLibraryRequest(raw);
    const own = session === undefined ? principal : { ...whole, session: `${instance} ${session}` };
    return { ...request, principal: own, hasForms: true, hasUrls: true }; // the program around it can ask its user
  };
  return {
    execute: async (raw) => gateway.execute(parseOwn(raw)),
    begin: async (raw) => {
      const patienceMs = parsePatience(raw) ?? gateway.patienceMs;
      return (await gateway.open(parseOwn(raw))).answer({ patienceMs });
    },
    resume: async (raw) => gateway.view({ ...parseLibraryResume(raw), principal }),
    search: async (raw) => gateway.search(principal, parseSearchArguments(raw)),
    describe: async (raw) => {
      const { names, detail } = parseLibraryDescribe(raw);
      return (await gateway.describe(principal, names, detail)).declarations;
    },
    close: () => gateway.close(),
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}
