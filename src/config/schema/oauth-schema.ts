/** Schema of `oauth`: how Glovebox logs in to an upstream, and the settings it becomes. */

import { z } from "zod";

import { defined } from "../../domain/index.ts";
import type { SecretTemplate, ServerSettings } from "../../domain/index.ts";
import { isClientMetadataUrl } from "../formats.ts";
import { readable, valueOf } from "./network-schema.ts";
import { readHostPort } from "./values/host-pattern.ts";

const MAX_ENTRIES = 100;
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export const oauthSchema = z
  .strictObject({
    clientId: z
      .string()
      .min(1)
      .optional()
      .meta({ description: "The id of a client that you registered. Default: Glovebox registers itself." }),
    clientSecret: z
      .string()
      .min(1)
      .optional()
      .meta({ description: "The secret of that client; may contain ${secret:NAME}." }),
    clientMetadataUrl: z
      .string()
      .refine(isClientMetadataUrl, "expected an https URL with a path, without query and fragment")
      .optional()
      .meta({ description: "The URL of your client ID metadata document; used if the server supports it." }),
    scopes: z
      .array(z.string().regex(SCOPE, "expected a scope without spaces and quotes"))
      .max(MAX_ENTRIES)
      .default([])
      .meta({ description: "The scopes to request. Default: the scopes that the server announces." }),
    grants: z.array(readable(readHostPort)).max(MAX_ENTRIES).default([]).meta({
      description: '"host:port" of authorization servers that may be in a private network and may use http.',
    }),
  })
  .prefault({})
  .meta({
    description: "How `glovebox servers login` logs in to a server with url. Most servers need no settings here.",
  });

/** Converts settings that passed the schema. */
export function toOauth(
  { clientId, clientMetadataUrl, scopes, grants }: z.output<typeof oauthSchema>,
  clientSecret: SecretTemplate | undefined,
): Extract<ServerSettings, { readonly url: string }>["oauth"] {
  return {
    ...defined({ clientId, clientSecret, clientMetadataUrl }),
    scopes,
    grants: grants.map((text) => valueOf(readHostPort(text))),
  };
}
