/** The built-in authorization server over HTTP: its endpoints, its metadata, and the page on which people decide. */

import type { Context, Hono } from "hono";

import { ERRORS, GloveboxError, isJsonObject, parseJson, toPublicError } from "../../domain/index.ts";
import type { Identity } from "../../identity/index.ts";
import { readText } from "./api-routes.ts";
import { findSession, refuseCrossSite } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { renderConsent, renderContinue, renderProblem } from "./consent-page.ts";
import { FORM_HEADERS } from "./security-headers.ts";

export type OauthServer = ReturnType<NonNullable<Identity["openAuthorization"]>>;

export interface OauthRouteOptions {
  readonly authorization: OauthServer;
  readonly identity: Identity;
  readonly report: (thrown: unknown) => string;
}

const MACHINE_PATHS = ["/oauth/token", "/oauth/register", "/oauth/revoke"];
const BROWSER_PATHS = ["/oauth/authorize", "/oauth/authorize/:uid", "/oauth/consent/:uid/finish"];
/** RFC 8414; the second is where clients look that know the address of `/mcp` only. */
const METADATA_PATHS = ["/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp"];
const CONSENT_PATH = "/oauth/consent/:uid";
const NO_STORE = { "cache-control": "no-store" };

/** On the address of `/mcp`. */
export function addAuthorization(app: Hono<AppEnv>, { authorization, report }: OauthRouteOptions): void {
  const pass = async (c: Context<AppEnv>): Promise<Response> => {
    const { method, url, headers } = c.req.raw;
    const body = method === "POST" ? await readText(c.req.raw) : "";
    return authorization.handle({ method, url, headers, body, origin: c.get("client").origin });
  };
  for (const path of METADATA_PATHS)
    app.get(path, async (c) => {
      const metadata = await authorization.describe();
      if (!metadata) throw new GloveboxError("REQUEST_NOT_FOUND", "No person can log in at this gateway yet");
      return c.json(metadata);
    });
  for (const path of MACHINE_PATHS) app.post(path, pass);
  for (const path of BROWSER_PATHS)
    app.get(path, async (c) => {
      try {
        return await toPage(await pass(c));
      } catch (thrown) {
        return showError(thrown, report);
      }
    });
}

/** On the address of the page, where the person has a session. */
export function addConsent(app: Hono<AppEnv>, { authorization, identity, report }: OauthRouteOptions): void {
  const find = async (c: Context<AppEnv>) => {
    const uid = c.req.param("uid") ?? "";
    const session = await findSession(c.req.raw.headers, c.get("client"), identity.sessions);
    return { uid, session, request: session && (await authorization.findRequest(uid)) };
  };
  app.get(CONSENT_PATH, async (c) => {
    const { uid, session, request } = await find(c);
    if (session) return request ? showPage(renderConsent(request, session.principal.id)) : showError(gone(), report);
    // A link of another site comes without the cookie, and one of this page with it.
    const here = `/oauth/consent/${encodeURIComponent(uid)}`;
    if (c.req.query("again") === undefined) return showPage(renderContinue(`${here}?again=1`));
    return c.redirect(`/login?${new URLSearchParams({ next: here }).toString()}`, 303);
  });
  app.post(CONSENT_PATH, async (c) => {
    try {
      refuseCrossSite(c.req.raw.headers);
      const { uid, session, request } = await find(c);
      if (!session || !request) throw gone();
      const form = new URLSearchParams(await readText(c.req.raw));
      const scopes = form.get("decision") === "allow" ? form.getAll("scope") : [];
      const decision = { person: session.principal, scopes, origin: c.get("client").origin };
      return showPage(renderContinue(await authorization.decide(uid, decision)));
    } catch (thrown) {
      return showError(thrown, report);
    }
  });
}

/** An answer that does not lead back to the client is for the person. */
async function toPage(answer: Response): Promise<Response> {
  if (answer.status < 400) return answer;
  const error = parseJson(await answer.text());
  const text = isJsonObject(error) ? (error["error_description"] ?? error["error"]) : undefined;
  const shown = typeof text === "string" ? text : "The request is not valid";
  return showPage(renderProblem("The client cannot be let in", shown), answer.status);
}

/** A page without a script. */
export function showPage(html: string, status = 200): Response {
  return new Response(html, {
    status,
    headers: { ...FORM_HEADERS, ...NO_STORE, "content-type": "text/html; charset=utf-8" },
  });
}

function showError(thrown: unknown, report: (thrown: unknown) => string): Response {
  const { code, message, hint = "" } = toPublicError(thrown, report);
  return showPage(renderProblem("The client cannot be let in", `${message}. ${hint}`), ERRORS[code].http);
}

function gone(): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", "This login is unknown, decided or too old", {
    hint: "Start it again in the client",
  });
}
