/** Asks the admin API and parses its answers with the contract; nothing else of this page speaks to the network. */

import { config } from "zod/mini";

import { executionsSchema, failureSchema, statusSchema, toolsSchema } from "../src/surfaces/admin/contract.ts";

/** The page's content security policy forbids making code from text, so the parser must not try. */
config({ jitless: true });

/** Why a request failed: `token` (unauthenticated), `away` (no answer) or `refused` (with the gateway's message). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: "token" | "away" | "refused";

  constructor(kind: "token" | "away" | "refused", message: string) {
    super(message);
    this.kind = kind;
  }
}

export type Api = ReturnType<typeof createApi>;

/** Keeps the token to itself and sends it in a header, never in an address. */
export function createApi(token: string) {
  return {
    status: async () => statusSchema.parse(await ask(token, "/api/status")),
    executions: async (limit: number) => executionsSchema.parse(await ask(token, `/api/executions?limit=${limit}`)),
    tools: async (query: string, signal: AbortSignal) => {
      const path = `/api/tools?${new URLSearchParams({ query }).toString()}`;
      return toolsSchema.parse(await ask(token, path, signal));
    },
  };
}

async function ask(token: string, path: string, signal?: AbortSignal): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await window.fetch(path, { headers, signal: signal ?? null }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ApiError("away", "Glovebox does not answer; it may have been stopped.");
  });
  if (response.status === 401) throw new ApiError("token", "The token is not the one of this start.");
  const body: unknown = await response.json();
  if (response.ok) return body;
  const failure = failureSchema.safeParse(body);
  throw new ApiError("refused", failure.success ? failure.data.error.message : `The answer was ${response.status}.`);
}
