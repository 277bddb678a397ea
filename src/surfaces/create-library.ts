/** The library: what a program that embeds Glovebox holds. `docs/guide/library.md` shows its use. */

import { randomUUID } from "node:crypto";

import type { SearchRequest } from "../catalog/index.ts";
import type { ExecutionResult, ExecutionView, Principal } from "../domain/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";
import type { ExecuteRequest, ViewRequest } from "../execution/index.ts";
import type { Gateway } from "./gateway.ts";
import { parseSearchArguments } from "./mcp/parse-arguments.ts";
import {
  parseDetail,
  parseExecuteRequest,
  parseMs,
  parseNames,
  parseObject,
  parseResumeRequest,
} from "./parse-request.ts";
import type { LibraryRequest } from "./parse-request.ts";

export interface Glovebox extends AsyncDisposable {
  /** The object of `glovebox run --json`. Rejects for a request that is wrong in itself or cannot be recorded. */
  execute(request: LibraryRequest): Promise<ExecutionResult>;
  /** As `execute`, but answers with state `running` after `patienceMs` (the setting when left out); it goes on then. */
  begin(request: LibraryRequest & { readonly patienceMs?: number }): Promise<ExecutionView>;
  /** How an execution stands; one that runs is waited for, 20 s when `waitMs` is left out. */
  resume(request: Omit<ViewRequest, "principal">): Promise<ExecutionView>;
  search(request: SearchRequest): ReturnType<Gateway["search"]>;
  /** TypeScript declarations of tools or whole namespaces. */
  describe(request: { readonly names: readonly string[]; readonly detail?: DescribeDetail }): Promise<string>;
  /** Executions under way end as `cancelled`; upstreams and child processes end with them. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createLibrary(gateway: Gateway, whole: Principal): Glovebox {
  const instance = randomUUID();
  const principal = { ...whole, session: instance };
  const parseOwn = (raw: unknown): ExecuteRequest => {
    const { session, ...request } = parseExecuteRequest(raw);
    const own = session === undefined ? principal : { ...whole, session: `${instance} ${session}` };
    return { ...request, principal: own };
  };
  return {
    execute: async (raw) => gateway.execute(parseOwn(raw)),
    begin: async (raw) => {
      const { patienceMs = gateway.patienceMs, ...request } = parseObject(raw, "begin");
      return gateway.begin({ ...parseOwn(request), patienceMs: parseMs(patienceMs, "begin", "patienceMs") });
    },
    resume: async (raw) => gateway.view({ ...parseResumeRequest(raw), principal }),
    search: async (request) => gateway.search(principal, parseSearchArguments(request)),
    describe: async (request) => {
      const { names, detail = "types" } = parseObject(request, "describe");
      return (await gateway.describe(principal, parseNames(names), parseDetail(detail))).declarations;
    },
    close: () => gateway.close(),
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}
