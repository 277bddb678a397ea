/** What goes wrong with logins, in words for the operator; a model can only pass them on. */

import { IssuerMismatchError, OAuthError, RegistrationRejectedError } from "@modelcontextprotocol/client";

import { GloveboxError, serverCommand } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

/** What an error code of OAuth looks like (RFC 6749 §5.2); the server's own prose is not repeated. */
const PLAIN_CODE = /^[a-z_]{1,60}$/;

/** Of a login that must not go on. */
export function loginRefused(id: ConnectorId, cause: string, hint: string): GloveboxError {
  return new GloveboxError("UPSTREAM_AUTH_REQUIRED", `${id}: ${cause}`, { hint });
}

/** Whatever a step of a login threw; texts of the servers are left out, because anybody may have written them. */
export function explainLogin(thrown: unknown, id: ConnectorId): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown;
  if (thrown instanceof IssuerMismatchError) {
    return loginRefused(id, "the answer comes from another authorization server than was asked", TAMPERED);
  }
  if (thrown instanceof RegistrationRejectedError) {
    const hint = "Register a client there by hand and set oauth.clientId for this upstream";
    return loginRefused(id, `the authorization server does not register Glovebox (HTTP ${thrown.status})`, hint);
  }
  if (thrown instanceof OAuthError) {
    const code = PLAIN_CODE.test(thrown.code) ? thrown.code : "an error";
    return loginRefused(id, `the authorization server answered ${code}`, `Log in again: ${serverCommand("login", id)}`);
  }
  const isUnreadable = thrown instanceof Error && ["ZodError", "SyntaxError"].includes(thrown.name);
  return isUnreadable
    ? loginRefused(id, "the metadata for the login is malformed", "Report it to whoever runs the server")
    : new GloveboxError("UPSTREAM_UNREACHABLE", `${id}: the authorization server cannot be used`, {
        cause: thrown,
        hint: "Check that it is up and reachable from here; then try again",
      });
}

const TAMPERED = "Do not continue: somebody may be mixing up servers. Report it to whoever runs the server";
