/** Access tokens of the built-in authorization server: random strings that the store knows, so that they can be revoked. */

import type { CredentialRefusal } from "../record-refusals.ts";
import type { VerifiedToken } from "../tokens.ts";

import { readScopes, toClientName } from "./oauth-agent.ts";
import type { OauthAgents } from "./oauth-agents.ts";
import type { OauthPayload, OauthRecords } from "./oauth-records.ts";
import type { PresentedToken } from "./verify-external.ts";

export interface OwnVerifierPowers {
  readonly records: Pick<OauthRecords, "findGranted">;
  readonly agents: OauthAgents;
  readonly refuse: (refusal: CredentialRefusal) => void;
}

/** 256 bits. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Returns `undefined` for a token that is not valid. Rejects with REQUEST_FORBIDDEN if no agent may act for the person. */
export function createOwnVerifier({ records, agents, refuse }: OwnVerifierPowers) {
  return async ({ text, origin, resource }: PresentedToken): Promise<VerifiedToken | undefined> => {
    // A token that was written while its grant was revoked has none.
    const found = TOKEN.test(text) ? await records.findGranted("AccessToken", text) : undefined;
    const token = found && parseToken(found.payload);
    const refused = (reason: string): undefined => {
      refuse({ what: "token", reason, origin, ...(found && { id: found.shownId }) });
      return undefined;
    };
    if (!found || !token) return refused("unknown, expired or revoked");
    if (token.audience !== resource) return refused("for another resource");
    const scopes = readScopes(token.scope.split(" "));
    const principal = await agents.admit({ person: token.person, client: toClientName(token.clientId), scopes });
    return { id: found.shownId, principal, scopes };
  };
}

function parseToken({ accountId: person, clientId, aud: audience, scope = "" }: OauthPayload) {
  const isWhole =
    typeof person === "string" &&
    typeof clientId === "string" &&
    typeof audience === "string" &&
    typeof scope === "string";
  return isWhole ? { person, clientId, audience, scope } : undefined;
}
