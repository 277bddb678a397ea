/** Revokes the tokens of a login at the authorization server (RFC 7009). */

import type { FetchLike } from "../../egress/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { Secret } from "../../vault/index.ts";

import type { Login } from "./login-store.ts";

/**
 * `unsupported`: the server announced no endpoint when the login was made. `failed`: there is one, and it did not work.
 */
export type Revocation =
  | { readonly kind: "revoked" }
  | { readonly kind: "unsupported" }
  | { readonly kind: "failed"; readonly cause: string };

/** Never rejects: a logout succeeds here in any case. Text of the server is left out. */
export async function revokeLogin(
  { revocation, refresh, access, client }: Login,
  fetch: FetchLike,
): Promise<Revocation> {
  if (!revocation) return { kind: "unsupported" };
  const { headers, fields } = authenticate(client, revocation.authMethods);
  const revoke = async (token: Secret, kind: string): Promise<void> => {
    const body = new URLSearchParams({ token: token.reveal(), token_type_hint: kind, ...fields });
    const response = await fetch(revocation.url, { method: "POST", headers, body });
    const text = await response.text();
    // The server can revoke refresh tokens only, and has done so.
    const isOtherKind = response.status === 400 && /"error"\s*:\s*"unsupported_token_type"/.test(text);
    if (response.ok || isOtherKind) return;
    throw new GloveboxError("UPSTREAM_FAILED", `it answered with status ${response.status}`);
  };
  try {
    // The refresh token first: the server should then revoke the tokens that came from it (RFC 7009 §2.1).
    if (refresh) await revoke(refresh, "refresh_token");
    await revoke(access, "access_token");
    return { kind: "revoked" };
  } catch (thrown) {
    return { kind: "failed", cause: thrown instanceof GloveboxError ? thrown.message : "it cannot be reached" };
  }
}

/** As at the token endpoint: by the method of the registration, else by one that the server accepts. */
function authenticate(
  { id, secret, authMethod }: Login["client"],
  methods: readonly string[] | undefined,
): { readonly headers: Record<string, string>; readonly fields: Record<string, string> } {
  if (!secret || authMethod === "none") return { headers: {}, fields: { client_id: id } };
  const isBasic = authMethod ? authMethod === "client_secret_basic" : (methods ?? [BASIC]).includes(BASIC);
  if (!isBasic) return { headers: {}, fields: { client_id: id, client_secret: secret.reveal() } };
  const pair = [id, secret.reveal()].map(encodeURIComponent).join(":"); // RFC 6749 §2.3.1
  return { headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` }, fields: {} };
}

const BASIC = "client_secret_basic";
