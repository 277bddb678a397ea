/** Errors of logins, written for the operator; a model can only repeat them. */

import { IssuerMismatchError, OAuthError, RegistrationRejectedError } from "@modelcontextprotocol/client";

import { GloveboxError, serverCommand } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

/** The form of an OAuth error code (RFC 6749 §5.2). The server's own text is not repeated. */
const PLAIN_CODE = /^[a-z_]{1,60}$/;

/** The login must not continue. */
export function loginRefused(id: ConnectorId, cause: string, hint: string): GloveboxError {
  return new GloveboxError("UPSTREAM_AUTH_REQUIRED", `${id}: ${cause}`, { hint });
}

/** For whatever a step of a login threw. Text of the servers is left out, because anyone may have written it. */
export function explainLogin(thrown: unknown, id: ConnectorId): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown;
  if (thrown instanceof IssuerMismatchError) {
    const hint = "Do not continue: this may be a mix-up attack. Report it to the server's operator";
    return loginRefused(id, "the answer comes from another authorization server", hint);
  }
  if (thrown instanceof RegistrationRejectedError) {
    const hint = "Register a client there by hand and set oauth.clientId for this upstream";
    return loginRefused(id, `the authorization server does not register Glovebox (HTTP ${thrown.status})`, hint);
  }
  if (thrown instanceof OAuthError) {
    const code = PLAIN_CODE.test(thrown.code) ? thrown.code : "an error";
    return loginRefused(id, `the authorization server answered ${code}`, `Log in again: ${serverCommand("login", id)}`);
  }
  if (thrown instanceof Error && ["ZodError", "SyntaxError"].includes(thrown.name)) {
    return loginRefused(id, "the metadata for the login is malformed", "Report it to the server's operator");
  }
  const hint = "Check that it runs and is reachable, then try again";
  const message = `${id}: the authorization server cannot be used`;
  return new GloveboxError("UPSTREAM_UNREACHABLE", message, { cause: thrown, hint });
}
