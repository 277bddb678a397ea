/**
 * Provides the current token of one upstream: from the vault, renewed before it expires. A token is renewed once, for
 * all waiting calls in all processes, because a refresh token may be valid for a single use.
 */

import { OAuthError, refreshAuthorization } from "@modelcontextprotocol/client";

import { defined } from "../../domain/index.ts";
import type { ConnectorId, Instant } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";
import type { Secret } from "../../vault/index.ts";

import type { TokenSource } from "../settings.ts";
import { isForResource } from "./discover.ts";
import { toClientInformation, withTokens } from "./login-store.ts";
import type { Login, LoginStore } from "./login-store.ts";
import { explainLogin } from "./login-errors.ts";

/** A token that expires within this time is renewed before it is used. */
const EARLY_MS = 30_000;
/** Errors of a refresh that no later attempt will change (RFC 6749 §5.2). */
const FINAL: readonly string[] = ["invalid_grant", "invalid_client", "unauthorized_client"];

interface TokenSourceOptions {
  readonly id: ConnectorId;
  /** Where tokens will be sent. A token for another resource is not used. */
  readonly url: string;
  readonly logins: Pick<LoginStore, "find" | "keep" | "alone">;
  /** For the token endpoint. */
  readonly fetch: FetchLike;
  readonly now: () => Instant;
}

export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { id, logins, now } = options;
  let login: Login | undefined;
  let renewing: Promise<Secret | undefined> | undefined;
  const renewAlone = async (stale: Secret): Promise<Secret | undefined> => {
    login = await logins.alone(id, async () => {
      const found = await findUsable(options);
      return found?.access.reveal() === stale.reveal() ? refresh(options, found) : found;
    });
    return login?.access;
  };
  const renew = (stale: Secret): Promise<Secret | undefined> =>
    (renewing ??= renewAlone(stale).finally(() => (renewing = undefined)));
  return {
    async current() {
      login ??= await findUsable(options);
      const endsSoon = login?.expiresAt !== undefined && login.expiresAt - EARLY_MS <= now();
      return login && endsSoon ? renew(login.access) : login?.access;
    },
    // A caller whose token was replaced in the meantime only needs the new one.
    renew: async (stale) => (login && login.access.reveal() !== stale.reveal() ? login.access : renew(stale)),
    forget: () => void (login = undefined),
  };
}

/** A login for another address must not be sent to this one. */
async function findUsable({ id, url, logins }: TokenSourceOptions): Promise<Login | undefined> {
  const login = await logins.find(id);
  return login && isForResource(url, login.resource) ? login : undefined;
}

async function refresh({ id, logins, fetch, now }: TokenSourceOptions, login: Login): Promise<Login | undefined> {
  const { issuer, resource, tokenEndpoint } = login;
  if (!login.refresh) return undefined;
  try {
    const tokens = await refreshAuthorization(issuer, {
      metadata: {
        issuer,
        authorization_endpoint: tokenEndpoint.url,
        token_endpoint: tokenEndpoint.url,
        response_types_supported: ["code"],
        ...defined({ token_endpoint_auth_methods_supported: tokenEndpoint.authMethods }),
      },
      clientInformation: toClientInformation(login.client),
      refreshToken: login.refresh.reveal(),
      resource,
      fetchFn: fetch,
    });
    const renewed = withTokens(login, tokens, now());
    await logins.keep(renewed, "gateway");
    return renewed;
  } catch (thrown) {
    if (!(thrown instanceof OAuthError) || !FINAL.includes(thrown.code)) throw explainLogin(thrown, id);
    await logins.keep({ ...login, refresh: undefined }, "gateway");
    return undefined;
  }
}
