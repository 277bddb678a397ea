/** The library: what a program that embeds Glovebox holds. `docs/guide/library.md` shows its use. */

import type { SearchRequest } from "../catalog/index.ts";
import type { ExecutionResult, Principal } from "../domain/index.ts";
import type { Detail } from "../typegen/index.ts";
import type { ExecuteRequest, Gateway } from "./gateway.ts";

export interface Glovebox extends AsyncDisposable {
  /** The object of `glovebox run --json`. Rejects for a request that is wrong in itself or cannot be recorded. */
  execute(request: Omit<ExecuteRequest, "principal" | "analysis" | "types">): Promise<ExecutionResult>;
  search(request: SearchRequest): ReturnType<Gateway["search"]>;
  /** TypeScript declarations of tools or whole namespaces. */
  describe(request: { readonly names: readonly string[]; readonly detail?: Detail }): Promise<string>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createLibrary(gateway: Gateway, principal: Principal): Glovebox {
  return {
    execute: (request) => gateway.execute({ ...request, principal }),
    search: (request) => gateway.search(principal, request),
    describe: async ({ names, detail = "types" }) => (await gateway.describe(principal, names, detail)).declarations,
    close: () => gateway.close(),
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}
