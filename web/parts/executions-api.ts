/** Asks for executions. Apart from the rest of the API, because the first view needs nothing of it. */

import { executionSchema, executionsSchema } from "../../src/surfaces/admin/contract/executions.ts";
import type { ExecutionAnswer, ExecutionsAnswer } from "../../src/surfaces/admin/contract/executions.ts";
import type { Api } from "../api.ts";

/** An empty value does not restrict the list. */
export interface ExecutionQuery {
  readonly limit: number;
  readonly before?: string | undefined;
  readonly state?: string;
  readonly principal?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly search?: string;
}

export function listExecutions(api: Pick<Api, "read">, query: ExecutionQuery): Promise<ExecutionsAnswer> {
  return api.read(executionsSchema, "/api/executions", { ...query });
}

export function showExecution(api: Pick<Api, "read">, id: string): Promise<ExecutionAnswer> {
  return api.read(executionSchema, `/api/executions/${id}`);
}

export function cancelExecution(api: Pick<Api, "change">, id: string): Promise<ExecutionAnswer> {
  return api.change(executionSchema, `/api/executions/${id}/cancel`);
}
