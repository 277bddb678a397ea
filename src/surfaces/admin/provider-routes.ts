/** Logins at OpenID Connect providers over HTTP: a browser leaves with a cookie, and comes back with it and an answer. */

import type { Context, Hono } from "hono";
import * as z from "zod";

import { ERRORS, GloveboxError, toPublicError } from "../../domain/index.ts";
import type { Identity } from "../../identity/index.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { findSession, readCookie, refuseCrossSite, toCookie, writeCookie } from "./authenticate.ts";
import type { AppEnv } from "./authenticate.ts";
import { renderContinue, renderDone, renderProblem } from "./consent-page.ts";
import type { ProviderAnswer } from "./login-contract.ts";
import { toNextAddress } from "./next-address.ts";
import { showPage } from "./oauth-routes.ts";

const START = z.strictObject({ next: z.string().max(2_000).optional(), stepUp: z.boolean().optional() });

/** What a browser brings back. It must come with a navigation from the provider, so it is not `Strict`. */
const COOKIE = "login";
const COOKIE_SECONDS = 10 * 60;

interface ProviderDoor {
  readonly identity: Identity;
  readonly now: () => number;
  readonly report: (thrown: unknown) => string;
  /** The address of the page, to which providers lead back. */
  readonly pageUrl: () => string;
}

/** Mounted where the page is, for people who must log in. */
export function addProviderLogins(app: Hono<AppEnv>, { identity, now, report, ...door }: ProviderDoor): void {
  const { providers, sessions } = identity;
  const pageUrl = (): string => new URL(door.pageUrl()).origin;
  if (!providers) return;
  app.post("/api/login/providers/:name", async (c) => {
    const { headers } = c.req.raw;
    refuseCrossSite(headers);
    refuseOtherAddress(headers, pageUrl());
    const { next = null, stepUp = false } = parseRequest(START, await readBody(c.req.raw), "body");
    const client = c.get("client");
    const { url, secret } = await providers.start(c.req.param("name"), {
      pageUrl: pageUrl(),
      origin: client.origin,
      next: toNextAddress(next, pageUrl()),
      session: await findSession(headers, client, sessions),
      isStepUp: stepUp,
    });
    c.header("set-cookie", toCookie(headers, client, { use: COOKIE, value: secret, seconds: COOKIE_SECONDS }));
    return c.json({ url } satisfies ProviderAnswer);
  });
  app.get("/login/callback/:name", async (c) => {
    try {
      return await finish(c, providers);
    } catch (thrown) {
      const { code, message, hint = "" } = toPublicError(thrown, report);
      const page = renderProblem("You are not logged in", `${message}. ${hint}.`, {
        address: "/login",
        text: "Log in",
      });
      return removeCookie(c, showPage(page, ERRORS[code].http));
    }
  });

  async function finish(c: Context<AppEnv>, logins: NonNullable<Identity["providers"]>): Promise<Response> {
    const { headers, url } = c.req.raw;
    const client = c.get("client");
    const { opened, next, isStepUp } = await logins.finish(c.req.param("name") ?? "", {
      pageUrl: pageUrl(),
      origin: client.origin,
      query: new URL(url).search,
      secret: readCookie(headers, client, COOKIE),
    });
    // A redirect would be a part of the provider's navigation, which brings no session.
    const page = showPage(isStepUp ? renderDone(STEP_UP_DONE) : renderContinue(next));
    page.headers.append("set-cookie", writeCookie(headers, client, opened, now()));
    return removeCookie(c, page);
  }
}

function removeCookie(c: Context<AppEnv>, page: Response): Response {
  const gone = toCookie(c.req.raw.headers, c.get("client"), { use: COOKIE, value: "", seconds: 0 });
  page.headers.append("set-cookie", gone);
  return page;
}

const STEP_UP_DONE = "You are logged in again. Close this tab and continue in the other one.";

/** The cookie of another address would not come back. */
function refuseOtherAddress(headers: Headers, pageUrl: string): void {
  if (headers.get("host")?.toLowerCase() === new URL(pageUrl).host) return;
  throw new GloveboxError("REQUEST_CONFLICT", `Login providers lead back to ${pageUrl} only`, {
    hint: `Open ${pageUrl}/login`,
  });
}
