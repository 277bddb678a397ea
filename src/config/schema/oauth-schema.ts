/** The part of the schema that says how Glovebox logs in to an upstream, and the settings that it becomes. */

import { z } from "zod";

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
      .meta({ description: "A client that was registered by hand. Left out, Glovebox registers itself." }),
    clientSecret: z.string().min(1).optional().meta({ description: "Its secret; may hold ${secret:NAME}." }),
    clientMetadataUrl: z
      .string()
      .refine(isClientMetadataUrl, "expected an https URL with a path, without query and fragment")
      .optional()
      .meta({ description: "Where you publish a client ID metadata document; used where the server takes one." }),
    scopes: z
      .array(z.string().regex(SCOPE, "expected a scope without spaces and quotes"))
      .max(MAX_ENTRIES)
      .default([])
      .meta({ description: "What to ask for. Left out, what the server says it needs." }),
    grants: z.array(readable(readHostPort)).max(MAX_ENTRIES).default([]).meta({
      description: '"host:port" of an authorization server that may lie in a private network, also without https.',
    }),
  })
  .prefault({})
  .meta({ description: "How `glovebox servers login` logs in to a server with url. Most servers need nothing here." });

/** Grants were read once by the schema. */
export function toOauth(
  { clientId, clientMetadataUrl, scopes, grants }: z.output<typeof oauthSchema>,
  clientSecret: SecretTemplate | undefined,
): Extract<ServerSettings, { readonly url: string }>["oauth"] {
  return {
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret && { clientSecret }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    scopes,
    grants: grants.map((text) => valueOf(readHostPort(text))),
  };
}
