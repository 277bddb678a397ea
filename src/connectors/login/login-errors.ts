/** What goes wrong with logins, in words for the operator; a model can only pass them on. */

import { IssuerMismatchError, OAuthError, RegistrationRejectedError } from "@modelcontextprotocol/client";

import { GloveboxError, serverCommand } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

/** A token in a shell command must be harmless, so anything else is left out of it. */
const PLAIN_SCOPE = /^[A-Za-z0-9_.:/-]{1,128}$/;
const MAX_SCOPES = 20;
/** What an error code of OAuth looks like (RFC 6749 §5.2); the server's own prose is not repeated. */
const PLAIN_CODE = /^[a-z_]{1,60}$/;

/** Of an upstream that is of no use before a person has logged in. */
export class LoginNeeded extends GloveboxError {
  constructor(id: ConnectorId, cause: string) {
    const hint = `An operator can log in: ${serverCommand("login", id)} (or set a credential in this upstream's headers)`;
    super("UPSTREAM_AUTH_REQUIRED", `${id}: ${cause}`, { hint });
  }
}

/** Of a call that the login does not cover; the connection itself is good. */
export function scopesMissing(id: ConnectorId, rawScope: string | undefined): GloveboxError {
  const scopes = (rawScope ?? "")
    .split(" ")
    .filter((one) => PLAIN_SCOPE.test(one))
    .slice(0, MAX_SCOPES);
  const shown = scopes.length === 0 ? "" : ` (${scopes.join(" ")})`;
  const flag = scopes.length === 0 ? "" : ` --scope "${scopes.join(" ")}"`;
  return new GloveboxError("UPSTREAM_AUTH_REQUIRED", `${id}: this call needs scopes that the login lacks${shown}`, {
    hint: `An operator can log in again with them: ${serverCommand("login", id)}${flag}`,
  });
}

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
