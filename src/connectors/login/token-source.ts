/**
 * Provides the current token of one upstream: from the vault, renewed before it expires. A token is renewed once, for
 * all waiting calls in all processes, because a refresh token may be valid for a single use.
 */

import { OAuthError, refreshAuthorization } from "@modelcontextprotocol/client";

import type { ConnectorId, Instant } from "../../domain/index.ts";
import type { FetchLike } from "../../egress/index.ts";
import type { Secret } from "../../vault/index.ts";

import type { TokenSource } from "../settings.ts";
import { isForResource } from "./discover.ts";
import { toClientInformation, toMetadata, withTokens } from "./login.ts";
import type { Login, LoginStore } from "./login.ts";
import { explainLogin } from "./login-errors.ts";

/** A token that expires within this time is renewed before it is used. */
const EARLY_MS = 30_000;
/** Errors of a refresh that no later attempt will change (RFC 6749 §5.2). */
const FINAL: readonly string[] = ["invalid_grant", "invalid_client", "unauthorized_client"];

export interface TokenSourceOptions {
  readonly id: ConnectorId;
  /** Where tokens will be sent. A token for another resource is not used. */
  readonly url: string;
  readonly logins: Pick<LoginStore, "find" | "keep" | "alone">;
  /** For the token endpoint. */
  readonly fetch: FetchLike;
  readonly now: () => Instant;
}

export function createTokenSource(options: TokenSourceOptions): TokenSource {
  let login: Login | undefined;
  let renewing: Promise<Secret | undefined> | undefined;
  const renew = (stale: Secret): Promise<Secret | undefined> => {
    renewing ??= renewAlone(options, stale)
      .then((renewed) => {
        login = renewed;
        return renewed?.access;
      })
      .finally(() => (renewing = undefined));
    return renewing;
  };
  return {
    async current() {
      login ??= await findUsable(options);
      if (!login || !endsSoon(login, options.now())) return login?.access;
      return renew(login.access);
    },
    // A caller whose token was replaced in the meantime only needs the new one.
    renew: (stale) =>
      login && login.access.reveal() !== stale.reveal() ? Promise.resolve(login.access) : renew(stale),
    forget: () => void (login = undefined),
  };
}

function endsSoon({ expiresAt }: Login, now: Instant): boolean {
  return expiresAt !== undefined && expiresAt - EARLY_MS <= now;
}

/** A login for another address must not be sent to this one. */
async function findUsable({ id, url, logins: keeper }: TokenSourceOptions): Promise<Login | undefined> {
  const login = await keeper.find(id);
  return login && isForResource(url, login.resource) ? login : undefined;
}

function renewAlone(options: TokenSourceOptions, stale: Secret): Promise<Login | undefined> {
  return options.logins.alone(options.id, async () => {
    const login = await findUsable(options);
    if (!login || login.access.reveal() !== stale.reveal()) return login;
    if (!login.refresh) return undefined;
    return refresh(options, login, login.refresh);
  });
}

async function refresh(options: TokenSourceOptions, login: Login, token: Secret): Promise<Login | undefined> {
  const { id, logins: keeper, fetch, now } = options;
  try {
    const tokens = await refreshAuthorization(login.issuer, {
      metadata: toMetadata(login),
      clientInformation: toClientInformation(login.client),
      refreshToken: token.reveal(),
      resource: login.resource,
      fetchFn: fetch,
    });
    const renewed = withTokens(login, tokens, now());
    await keeper.keep(renewed, "gateway");
    return renewed;
  } catch (thrown) {
    if (!(thrown instanceof OAuthError) || !FINAL.includes(thrown.code)) throw explainLogin(thrown, id);
    const { refresh: _, ...ended } = login;
    await keeper.keep(ended, "gateway");
    return undefined;
  }
}
