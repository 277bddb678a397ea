/** Every route of the admin API with the schema of its answer, for the OpenAPI document and the reference page. */

import * as z from "zod";
import type { ZodMiniType } from "zod/mini";

import {
  approvalAnswerSchema,
  approvalReviewSchema,
  approvalsSchema,
  failureSchema,
  loginSchema,
  proposedRuleSchema,
  sessionSchema,
  sessionsSchema,
  statusSchema,
  tokenSchema,
} from "./contract.ts";
import { executionSchema, executionsSchema, exportSchema, replaySchema } from "./contract/executions.ts";
import { ledgerSchema, proofSchema } from "./contract/ledger.ts";
import {
  accessTokenSchema,
  accessTokensSchema,
  clientsSchema,
  createdTokenSchema,
  endedSchema,
  inviteSchema,
  peopleSchema,
  personSchema,
  removedSchema,
} from "./contract/people.ts";
import {
  explanationSchema,
  lintSchema,
  policyChangedSchema,
  policySchema,
  simulationSchema,
} from "./contract/policy.ts";
import { secretChangedSchema, secretsSchema } from "./contract/secrets.ts";
import { connectSchema, decidedSchema, restartSchema, withheldSchema } from "./contract/servers.ts";
import { settingsSchema } from "./contract/settings.ts";
import { skillReviewSchema, skillSchema, skillsSchema } from "./contract/skills.ts";
import { setupSchema } from "./contract/setup.ts";
import { declarationsSchema, programPlanSchema, startedSchema, toolsSchema } from "./contract/tools.ts";
import { usageSchema } from "./contract/usage.ts";

type Method = "get" | "post" | "put" | "delete";

export interface ApiRoute {
  readonly method: Method;
  /** Parameters in braces. */
  readonly path: string;
  readonly does: string;
  /** Absent for an answer that is not JSON, or that this document does not describe. */
  readonly answer?: ZodMiniType;
}

const route = (method: Method, path: string, does: string, ...[answer]: readonly [ZodMiniType?]): ApiRoute => ({
  method,
  path: `/api${path}`,
  does,
  ...(answer && { answer }),
});

/** By page. Logins, passkeys and drafts of skills are described in their contracts only. */
export const API_ROUTES: readonly ApiRoute[] = [
  route("get", "/login", "How people can log in; needs no session", loginSchema),
  route("get", "/session", "Who is logged in", sessionSchema),
  route("delete", "/session", "Logs out; `all=true` in every browser"),
  route("post", "/session/token", "A token for programs of this person", tokenSchema),
  route("get", "/sessions", "Sessions, for an operator all", sessionsSchema),
  route("delete", "/sessions", "Ends all sessions of all people", endedSchema),
  route("delete", "/sessions/{id}", "Ends one session", endedSchema),
  route("get", "/status", "Gateway, isolation and servers", statusSchema),
  route("get", "/events", "Server-sent events with the names of what changed"),
  route("get", "/approvals", "Approvals; `all`, `execution`, `after`, `limit`", approvalsSchema),
  route("get", "/approvals/{id}", "One approval with its program", approvalReviewSchema),
  route("get", "/approvals/{id}/rule", "The rule that a decision for good would write; `scope`", proposedRuleSchema),
  route("post", "/approvals/{id}", "Decides: `verdict`, `scope`, `note`", approvalAnswerSchema),
  route("get", "/executions", "Executions, the latest first, paged by `before`", executionsSchema),
  route("get", "/executions/{id}", "One execution whole", executionSchema),
  route("post", "/executions/{id}/cancel", "Cancels it", executionSchema),
  route("post", "/executions/{id}/replay", "Replays it without any upstream: `engine`", replaySchema),
  route("post", "/executions/{id}/export", "Exports it for a replay elsewhere", exportSchema),
  route("get", "/setup", "The entry of each client, agents, and the call that proves the setup", setupSchema),
  route("get", "/tools/declarations", "Declarations of tools", declarationsSchema),
  route("post", "/playground/plan", "What a program can call", programPlanSchema),
  route("post", "/playground/run", "Runs a program, or makes a dry run", startedSchema),
  route("post", "/servers/{name}/restart", "Restarts a server in every gateway on the store", restartSchema),
  route("post", "/servers/{name}/connect", "Starts a login to a server in this browser", connectSchema),
  route("get", "/withheld", "Definitions that wait for an operator, field by field", withheldSchema),
  route("post", "/withheld", "Decides: `verdict`, `server`, `tools` as they were shown", decidedSchema),
  route("get", "/tools", "Tools as agents find them; `query`, `cursor`", toolsSchema),
  route("get", "/skills", "All versions of all skills", skillsSchema),
  route("get", "/skills/{name}", "What a reviewer reads about a version; `version`", skillReviewSchema),
  route("post", "/skills", "Submits a skill: `files`", skillSchema),
  route("post", "/skills/{name}/approve", "Approves: `version`, `digest`, `grants`, `note`", skillSchema),
  route("post", "/skills/{name}/reject", "Rejects: `version`, `digest`, `reason`", skillSchema),
  route("post", "/skills/{name}/revoke", "Revokes: `version`, `digest`, `reason`", skillSchema),
  route("post", "/skills/{name}/retire", "Retires: `version`, `digest`, `reason`", skillSchema),
  route("post", "/skills/{name}/rollback", "Submits an earlier version again: `version`", skillSchema),
  route("post", "/skills/{name}/thaw", "Signs it for its tools as they are now", skillSchema),
  route("post", "/skills/{name}/restore", "Writes its approved files again", skillSchema),
  route("get", "/policy", "Rules, labels, quotas and what principals have read", policySchema),
  route("get", "/policy/explain", "Why a call is decided; `tool`, `args`, `principal`, `groups`", explanationSchema),
  route(
    "post",
    "/policy/simulate",
    "What other rules would have changed: `rules`, `since`, `profile`",
    simulationSchema,
  ),
  route("get", "/policy/lint", "Rules without effect", lintSchema),
  route("delete", "/policy/rules/{id}", "Removes a rule that a decision made", policyChangedSchema),
  route("delete", "/policy/labels/{principal}", "Clears the labels of a principal", policyChangedSchema),
  route("get", "/people", "People with their roles", peopleSchema),
  route("post", "/people", "Adds a person: `name`, `roles`, `again`", personSchema),
  route("put", "/people/{name}/roles", "Sets roles: `roles`", personSchema),
  route("post", "/people/{name}/invite", "A new link that sets a password", inviteSchema),
  route("delete", "/people/{name}", "Removes a person", removedSchema),
  route("delete", "/people/{name}/sessions", "Logs a person out everywhere", endedSchema),
  route("get", "/tokens", "Access tokens, newest first", accessTokensSchema),
  route("post", "/tokens", "Creates a token, which only this answer has", createdTokenSchema),
  route("delete", "/tokens/{id}", "Revokes a token", accessTokenSchema),
  route("get", "/clients", "MCP clients that people let in", clientsSchema),
  route("delete", "/clients/{id}", "Ends the login of a client", endedSchema),
  route("get", "/secrets", "Secrets without their values", secretsSchema),
  route("put", "/secrets/{name}", "Sets a value: `value`, and the `version` that was seen", secretChangedSchema),
  route("delete", "/secrets/{name}", "Removes it; `version` as it was seen", secretChangedSchema),
  route("get", "/ledger", "Records that match, the newest first, paged by `before`", ledgerSchema),
  route("get", "/ledger/proof", "Whether the ledger is intact", proofSchema),
  route("post", "/ledger/proof", "Starts a verification", proofSchema),
  route("get", "/ledger/export", "JSON Lines with a signed trailer"),
  route("get", "/usage", "Sums of the last `hours`", usageSchema),
  route("get", "/settings", "Settings with their source", settingsSchema),
];

/** OpenAPI 3.1. Requests are described in words: their bodies are checked, and refused with every problem. */
export function toOpenApi(): object {
  const paths = Map.groupBy(API_ROUTES, ({ path }) => path);
  return {
    openapi: "3.1.0",
    info: { title: "Glovebox admin API", version: "1" },
    components: {
      securitySchemes: {
        session: { type: "apiKey", in: "cookie", name: "glovebox-PORT" },
        token: { type: "http", scheme: "bearer" },
      },
      schemas: { Failure: toSchema(failureSchema) },
    },
    security: [{ session: [] }, { token: [] }],
    paths: Object.fromEntries([...paths].map(([path, routes]) => [path, toPathItem(path, routes)])),
  };
}

function toPathItem(path: string, routes: readonly ApiRoute[]): object {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const parameters = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const operations = routes.map(({ method, does, answer }) => [
    method,
    {
      summary: does,
      responses: {
        200: { description: "Done", ...(answer && { content: { "application/json": { schema: toSchema(answer) } } }) },
        default: {
          description: "A code, a message and a hint",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
        },
      },
    },
  ]);
  return { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(operations) };
}

function toSchema(schema: ZodMiniType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { unrepresentable: "any" });
  return rest;
}

/** The reference page. */
export function toApiPage(): string {
  const rows = API_ROUTES.map(({ method, path, does }) => `| \`${method.toUpperCase()} ${path}\` | ${does} |`);
  return [...INTRODUCTION, "| Route | Does |", "| --- | --- |", ...rows, ""].join("\n");
}

const INTRODUCTION = [
  "# The admin API",
  "",
  "The admin page and programs of people use this API. This page and [the OpenAPI document](admin-api.json) are generated from `src/surfaces/admin/contract/`; the zod schemas there check the answers in the page and in the tests.",
  "",
  "| | Rule |",
  "| --- | --- |",
  "| Who | A person with a session cookie or a token of that session. A service has an access token with `ledger:read` or `approvals:read`. An agent's credential is refused. |",
  "| Changes | Need the page's own origin with a cookie, and a recent login where a login is required. Without a recent login the answer is 401 with `insufficient_user_authentication`. |",
  "| Two people | A change names what the person saw: the digest of a definition or of a skill, the version of a secret. After another change the answer is `REQUEST_CONFLICT`, and nothing is changed. |",
  "| Pages | Lists are paged by key: `before` or `after` with the last one that you have. |",
  '| Errors | `{ "error": { "code", "message", "retry", "hint"? } }`; each code has a page in `docs/errors/`. |',
  "",
  "Parameters of a query and fields of a body are in the second column.",
  "",
];
