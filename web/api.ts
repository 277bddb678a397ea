/** Asks the admin API and parses its answers with the contract; nothing else of this page speaks to the network. */

import { config } from "zod/mini";
import type { ZodMiniType } from "zod/mini";

import { approvalAnswerSchema, approvalReviewSchema, approvalsSchema } from "../src/surfaces/admin/contract.ts";
import {
  STEP_UP,
  loginSchema,
  proposedRuleSchema,
  sessionSchema,
  sessionsSchema,
} from "../src/surfaces/admin/contract.ts";
import { creationSchema, passkeysSchema, requestSchema, providerSchema } from "../src/surfaces/admin/login-contract.ts";
import { failureSchema, statusSchema, toolsSchema } from "../src/surfaces/admin/contract.ts";
import { executionSchema, executionsSchema } from "../src/surfaces/admin/contract/executions.ts";
import type { DecidedScope } from "../src/surfaces/describe-scope.ts";

/** The page's content security policy forbids making code from text, so the parser must not try. */
config({ jitless: true });

/**
 * Why a request failed: `session` (unauthenticated), `login` (a change needs a new login), `away` (no answer) or
 * `refused` (with the gateway's message).
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: "session" | "login" | "away" | "refused";

  constructor(kind: ApiError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

export type Api = ReturnType<typeof createApi>;

interface ExecutionQuery {
  readonly limit: number;
  readonly before?: string | undefined;
  readonly state?: string;
  readonly search?: string;
}

interface DecisionChoice {
  readonly scope?: DecidedScope | undefined;
  readonly note?: string | undefined;
}

type Query = Readonly<Record<string, string | number | undefined>>;
type Method = "POST" | "PUT" | "DELETE";

/** Without empty and absent values. */
function toQuery(values: Query): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return new URLSearchParams(given).toString();
}

/**
 * The session is a cookie that this page cannot read. `logInAgain` is called when a change needs a new login; if it
 * resolves to true, the change is sent once more.
 */
export function createApi(logInAgain: () => Promise<boolean> = async () => false) {
  const change: Change = async (send) => {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ApiError && error.kind === "login") || !(await logInAgain())) throw error;
      return send();
    }
  };
  return {
    ...createLoginApi(change),
    /** For the schemas of one page, which are loaded with it. */
    read: async <Schema extends ZodMiniType>(schema: Schema, path: string, query: Query = {}, signal?: AbortSignal) => {
      const text = toQuery(query);
      return schema.parse(await ask(text === "" ? path : `${path}?${text}`, signal));
    },
    /** A change, which may need a new login; `POST` unless named. */
    change: async <Schema extends ZodMiniType>(
      schema: Schema,
      path: string,
      body: object = {},
      method: Method = "POST",
    ) => {
      const headers = { "content-type": "application/json" };
      return schema.parse(await change(() => read(path, { method, headers, body: JSON.stringify(body) })));
    },
    status: async () => statusSchema.parse(await ask("/api/status")),
    executions: async (query: ExecutionQuery) =>
      executionsSchema.parse(await ask(`/api/executions?${toQuery({ ...query })}`)),
    execution: async (id: string) => executionSchema.parse(await ask(`/api/executions/${id}`)),
    cancel: async (id: string) =>
      executionSchema.parse(await change(() => ask(`/api/executions/${id}/cancel`, undefined, "{}"))),
    approvals: async (isAll = false) => approvalsSchema.parse(await ask(`/api/approvals${isAll ? "?all=true" : ""}`)),
    approval: async (id: string) => approvalReviewSchema.parse(await ask(`/api/approvals/${id}`)),
    /** The rule that a decision for good would write. */
    proposeRule: async (id: string, scope: DecidedScope) =>
      proposedRuleSchema.parse(await ask(`/api/approvals/${id}/rule?scope=${scope}`)),
    decide: async (id: string, verdict: "approve" | "reject", choice: DecisionChoice = {}) => {
      const body = JSON.stringify({ verdict, ...choice });
      return approvalAnswerSchema.parse(await change(() => ask(`/api/approvals/${id}`, undefined, body)));
    },
    tools: async (query: string, signal: AbortSignal) => {
      const path = `/api/tools?${new URLSearchParams({ query }).toString()}`;
      return toolsSchema.parse(await ask(path, signal));
    },
  };
}

type Change = <Answer>(send: () => Promise<Answer>) => Promise<Answer>;

/** How a person gets a session, and what they own. */
function createLoginApi(change: Change) {
  return {
    /** Exchanges the one-time code of `glovebox open` for a session. */
    enter: async (code: string) => void (await ask("/api/session", undefined, JSON.stringify({ code }))),
    /** How people can log in here. */
    findLogins: async () => loginSchema.parse(await ask("/api/login")),
    /** Returns the address at a login provider. */
    startLogin: async (provider: string, request: { readonly next?: string; readonly stepUp?: boolean }) => {
      const body = JSON.stringify(request);
      const { url } = providerSchema.parse(await ask(`/api/login/providers/${provider}`, undefined, body));
      if (!/^https?:$/.test(new URL(url).protocol)) throw new ApiError("refused", "The address is not valid.");
      return url;
    },
    logIn: async (name: string, password: string) =>
      void (await ask("/api/login", undefined, JSON.stringify({ name, password }))),
    acceptInvite: async (code: string, password: string) =>
      void (await ask("/api/invite", undefined, JSON.stringify({ code, password }))),
    startPasskey: async (stepUp: boolean) =>
      requestSchema.parse(await ask("/api/login/passkey/start", undefined, JSON.stringify({ stepUp }))),
    enterPasskey: async (used: object) => void (await ask("/api/login/passkey", undefined, JSON.stringify(used))),
    passkeys: async () => passkeysSchema.parse(await ask("/api/passkeys")),
    startAddingPasskey: async () =>
      creationSchema.parse(await change(() => ask("/api/passkeys/start", undefined, "{}"))),
    addPasskey: async (label: string, answer: object) =>
      void (await ask("/api/passkeys", undefined, JSON.stringify({ label, answer }))),
    removePasskey: async (id: string) =>
      void (await change(() => read(`/api/passkeys/${encodeURIComponent(id)}`, { method: "DELETE" }))),
    session: async () => sessionSchema.parse(await ask("/api/session")),
    logOut: async () => void (await read("/api/session", { method: "DELETE" })),
    sessions: async () => sessionsSchema.parse(await ask("/api/sessions")),
    endSession: (id: string) => change(() => read(`/api/sessions/${id}`, { method: "DELETE" })),
    /** Of this person, in all browsers. */
    logOutEverywhere: async () => void (await read("/api/session?all=true", { method: "DELETE" })),
  };
}

async function ask(path: string, signal?: AbortSignal, text?: string): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const sent = text === undefined ? {} : { method: "POST", headers, body: text };
  return read(path, { ...sent, signal: signal ?? null });
}

async function read(path: string, init: RequestInit): Promise<unknown> {
  const response = await window.fetch(path, init).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw error;
    throw new ApiError("away", "Glovebox does not answer; it may have been stopped.");
  });
  const body: unknown = await response.json();
  if (response.ok) return body;
  const failure = failureSchema.safeParse(body);
  const isLogin = path.startsWith("/api/login") || path === "/api/invite";
  if (response.headers.get("www-authenticate")?.includes(STEP_UP) === true)
    throw new ApiError("login", "Nothing was changed: this needs a new login.");
  if (response.status === 401 && !isLogin) throw new ApiError("session", "This browser does not have a session.");
  if (!failure.success) throw new ApiError("refused", `The answer was ${response.status}.`);
  const { message, hint } = failure.data.error;
  throw new ApiError("refused", hint === undefined ? message : `${message}. ${hint}.`);
}
