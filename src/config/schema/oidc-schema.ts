/** Schema of `server.oidc`: where people log in. */

import { z } from "zod";

import { nonEmptyString, optional } from "./fields.ts";
import { serverUrl } from "./oauth-schema.ts";

/** It is a part of the address to which a provider leads back. */
const PROVIDER_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const MAX_TITLE_CHARS = 40;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/;
const MAX_SCOPES = 20;

const roles = z.array(z.enum(["agent", "reviewer", "operator"])).min(1);

const providerSchema = z.strictObject({
  issuer: serverUrl.describe("The provider, exactly as its tokens name it in `iss`."),
  clientId: nonEmptyString.describe("The id of the gateway at the provider."),
  clientSecret: optional(nonEmptyString, "The secret of that client; may contain ${secret:NAME}."),
  title: optional(nonEmptyString.max(MAX_TITLE_CHARS), "What the button on the login page says; without it the name."),
  scopes: z
    .array(z.string().regex(SCOPE))
    .max(MAX_SCOPES)
    .default(["profile", "email"])
    .describe("What is asked for in addition to `openid`."),
  nameClaim: nonEmptyString
    .default("preferred_username")
    .describe("The claim that names a person at the first login. Choose one that people cannot change themselves."),
  groupsClaim: nonEmptyString.default("groups").describe("The claim with the groups of a person."),
  roles: z
    .record(nonEmptyString, roles)
    .refine((groups) => Object.keys(groups).length > 0, "expected at least one group")
    .describe("The roles of each group. A person without any of these groups is refused."),
});

export const oidcSchema = z
  .record(z.string().regex(PROVIDER_NAME), providerSchema)
  .default({})
  .describe("OpenID Connect providers where people log in to the page, by name.");
