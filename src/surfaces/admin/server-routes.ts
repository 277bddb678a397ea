/** What an operator does with servers over the admin API: restart one, and log in to one in the same browser. */

import { randomBytes } from "node:crypto";

import { Hono } from "hono";
import type { Context } from "hono";

import { ERRORS, GloveboxError, parseConnectorId, toPublicError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import { SECOND_MS } from "../../timing/index.ts";
import type { Gateway } from "../gateway.ts";
import type { OperatorDoor, OperatorRecords } from "../operator-records.ts";
import { isSame, readCookie, requireRole, toCookie } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { renderContinue, renderProblem } from "./consent-page.ts";
import type { ConnectAnswer, RestartAnswer } from "./contract/servers.ts";
import { showPage } from "./oauth-routes.ts";

/** Binds the answer of an authorization server to the browser that asked. It comes with a navigation from another site. */
const COOKIE = "connect";
const ANSWER_SECONDS = 10 * 60;
const STATE_BYTES = 24;
/** Logins that wait for their person; the oldest one is dropped. */
const MAX_WAITING = 20;
export const CONNECT_PATH = "/servers/callback";

interface ServerDoor {
  readonly gateway: Pick<Gateway, "health">;
  readonly operator: Pick<OperatorDoor, "openRecords">;
  readonly now: () => number;
  readonly report: (thrown: unknown) => string;
  readonly pageUrl: () => string;
}

interface WaitingLogin {
  readonly secret: string;
  readonly until: number;
  finish(answer: URLSearchParams): Promise<void>;
}

/** `routes` are mounted under `/api/servers`, after the caller is known; `finish` answers at `CONNECT_PATH`. */
export function createServerRoutes({ gateway, operator, now, report, pageUrl }: ServerDoor) {
  const waiting = createWaiting(now);
  const find = (raw: string): ConnectorId => {
    const id = parseConnectorId(raw);
    if (id && gateway.health().upstreams.some(({ name }) => name === id)) return id;
    throw new GloveboxError("REQUEST_NOT_FOUND", `${JSON.stringify(raw.slice(0, 60))} is not a server`, {
      hint: "Use one of the list",
    });
  };
  const routes = new Hono<AppEnv>();
  routes.use(async (c, next) => {
    requireRole(c.get("caller"), ["operator"]);
    await next();
  });
  routes.post("/:name/restart", async (c) => {
    const server = find(c.req.param("name"));
    const records = await openRecords(operator);
    await records.restart(server, c.get("caller").principal.id);
    return c.json({ server } satisfies RestartAnswer);
  });
  routes.post("/:name/connect", async (c) => {
    const server = find(c.req.param("name"));
    const { logins } = await openRecords(operator);
    const [state, secret] = [drawText(), drawText()];
    const redirectUri = `${new URL(pageUrl()).origin}${CONNECT_PATH}`;
    const begun = await logins.begin(server, { scopes: [], state, redirectUri });
    const { id: actor } = c.get("caller").principal;
    waiting.add(state, { secret, finish: async (answer) => logins.keep(await begun.finish(answer), actor) });
    const cookie = { use: COOKIE, value: secret, seconds: ANSWER_SECONDS };
    c.header("set-cookie", toCookie(c.req.raw.headers, c.get("client"), cookie));
    return c.json({ server, url: begun.authorizationUrl.href, issuer: begun.issuer } satisfies ConnectAnswer);
  });
  return { routes, finish: (c: Context<AppEnv>): Promise<Response> => finishLogin(c, waiting, report) };
}

function drawText(): string {
  return randomBytes(STATE_BYTES).toString("base64url");
}

/** Logins of the last minutes by their state; each is taken once, with its secret. */
function createWaiting(now: () => number) {
  const logins = new Map<string, WaitingLogin>();
  return {
    add(state: string, login: Omit<WaitingLogin, "until">): void {
      const [oldest] = logins.size >= MAX_WAITING ? logins.keys() : [];
      if (oldest !== undefined) logins.delete(oldest);
      logins.set(state, { ...login, until: now() + ANSWER_SECONDS * SECOND_MS });
    },
    take(state: string, secret: string): WaitingLogin {
      const login = logins.get(state);
      if (!login || now() > login.until || !isSame(secret, login.secret)) throw gone();
      logins.delete(state);
      return login;
    },
  };
}

async function finishLogin(
  c: Context<AppEnv>,
  waiting: ReturnType<typeof createWaiting>,
  report: ServerDoor["report"],
): Promise<Response> {
  try {
    const answer = new URL(c.req.url).searchParams;
    const secret = readCookie(c.req.raw.headers, c.get("client"), COOKIE) ?? "";
    await waiting.take(answer.get("state") ?? "", secret).finish(answer);
    return removeCookie(c, showPage(renderContinue("/servers")));
  } catch (thrown) {
    const { code, message, hint = "" } = toPublicError(thrown, report);
    const link = { address: "/servers", text: "Servers" };
    return showPage(renderProblem("The server is not connected", `${message}. ${hint}.`, link), ERRORS[code].http);
  }
}

/** Throws `REQUEST_INVALID` for a store in memory. */
export async function openRecords({ openRecords: open }: Pick<OperatorDoor, "openRecords">): Promise<OperatorRecords> {
  if (open) return open();
  throw new GloveboxError("REQUEST_INVALID", "This gateway keeps its records in memory, where they cannot be changed", {
    hint: "Set store.url to a file",
  });
}

function removeCookie(c: Context<AppEnv>, page: Response): Response {
  const gone = toCookie(c.req.raw.headers, c.get("client"), { use: COOKIE, value: "", seconds: 0 });
  page.headers.append("set-cookie", gone);
  return page;
}

function gone(): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", "This login is unknown, answered or too old", {
    hint: "Start it again on the page",
  });
}
