/** How MCP clients log in by OAuth: at an external authorization server, or at the built-in one. */

import type { Seal } from "../../domain/index.ts";
import type { IdentityPowers } from "../powers.ts";
import { TOKEN_PREFIX } from "../token-text.ts";
import type { Tokens, VerifiedToken } from "../tokens.ts";

import { createAuthorizationServer } from "./authorization-server.ts";
import type { AuthorizationPlace, AuthorizationPowers, AuthorizationServer } from "./authorization-server.ts";
import type { BuiltInOptions } from "./authorization-server.ts";
import { createExternalVerifier } from "./verify-external.ts";
import type { ExternalIssuer, ExternalPowers, PresentedToken } from "./verify-external.ts";
import { createOwnVerifier } from "./verify-own.ts";

export interface OauthOptions extends Partial<BuiltInOptions>, Pick<AuthorizationPowers, "egress"> {
  readonly external?: ExternalIssuer | undefined;
  /** False turns the built-in authorization server off. */
  readonly builtIn?: boolean;
}

export interface OauthLogins {
  /** An access token of any kind. Returns `undefined` for one that is not valid. Rejects as `createExternalVerifier`. */
  readonly verify: (token: PresentedToken) => Promise<VerifiedToken | undefined>;
  /** The external authorization server, if there is one. */
  readonly issuer?: string;
  /** The built-in authorization server; absent with an external one, and where it is turned off. */
  readonly openAuthorization?: (place: AuthorizationPlace) => AuthorizationServer;
}

type OauthPowers = IdentityPowers &
  Pick<ExternalPowers, "agents" | "refuse"> &
  Pick<AuthorizationPowers, "clientLogins" | "hasPeople" | "records"> & { readonly tokens: Pick<Tokens, "verify"> };

export function openOauth(
  oauth: OauthOptions | undefined,
  powers: OauthPowers,
  seal: Pick<Seal, "derive">,
): OauthLogins {
  const { tokens } = powers;
  const verifyOwn: OauthLogins["verify"] = ({ text, origin }) => tokens.verify(text, origin);
  const unlessOwn =
    (verify: OauthLogins["verify"]): OauthLogins["verify"] =>
    (token) =>
      (token.text.startsWith(TOKEN_PREFIX) ? verifyOwn : verify)(token);
  const { external, egress, builtIn = true, clients = {}, registration = true, clientDocuments = true } = oauth ?? {};
  if (!egress || (!external && !builtIn)) return { verify: verifyOwn };
  if (external)
    return { issuer: external.issuer, verify: unlessOwn(createExternalVerifier(external, { ...powers, egress })) };
  const cookieKey = Buffer.from(seal.derive("cookies of logins")).toString("hex");
  const more = { ...powers, egress, cookieKey };
  return {
    verify: unlessOwn(createOwnVerifier(more)),
    openAuthorization: (place) => createAuthorizationServer({ clients, registration, clientDocuments }, more, place),
  };
}
