/** Schema of upstreams: one entry of `mcpServers`, `openapi` and `adapters`. */

import { z } from "zod";

import { isHttpUrl } from "../formats.ts";
import { serverPolicySchema, upstreamPolicySchemas } from "./network-schema.ts";
import { oauthSchema } from "./oauth-schema.ts";
import { nonEmptyString, string, integer } from "./fields.ts";

/** When a new definition is accepted. */
export const pinSchema = z.enum(["first-use", "approve"]);

/** Which keys are allowed depends on the transport; `check-relations.ts` checks that. */
export const serverSchema = z
  .strictObject({
    type: z
      .enum(["stdio", "http", "streamable-http", "streamableHttp", "sse"])
      .optional()
      .meta({ description: "The transport. Only needed for sse: command implies stdio, url implies Streamable HTTP." }),
    command: nonEmptyString.optional().meta({ description: "The command that starts the server, without a shell." }),
    args: z.array(string).optional().meta({ description: "Arguments of the command." }),
    env: z
      .record(z.string(), string)
      .optional()
      .meta({ description: "Environment variables; may contain ${secret:NAME}." }),
    cwd: nonEmptyString
      .optional()
      .meta({ description: "The working folder, relative to the folder of this configuration." }),
    url: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use headers for those)")
      .optional()
      .meta({ description: "The URL of a server with Streamable HTTP, or with SSE if type is sse." }),
    headers: z
      .record(z.string(), string)
      .optional()
      .meta({ description: "Headers for url; may contain ${secret:NAME}." }),
    oauth: oauthSchema,
    networkPolicy: serverPolicySchema,
    pin: pinSchema.optional().meta({ description: "The setting pin for this server only." }),
    start: z.enum(["eager", "lazy"]).default("eager").meta({
      description: "eager connects when Glovebox starts, lazy at the first request for tools or the first program.",
    }),
    startupTimeoutMs: integer({ min: 1, max: 600_000, usual: 30_000 }, "Time limit for the start of the server."),
    disabled: z
      .boolean()
      .default(false)
      .meta({ description: "true ignores the server; the rest of its entry is not checked." }),
  })
  .meta({ description: "One upstream.", oneOf: [{ required: ["command"] }, { required: ["url"] }] });

/** One document and the host that its operations are sent to. */
export const openapiSchema = z
  .strictObject({
    document: nonEmptyString.meta({
      description:
        "The OpenAPI document: a file, relative to the folder of this configuration, or an http or https URL.",
    }),
    baseUrl: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use auth or headers for those)")
      .optional()
      .meta({ description: "The URL of the API. Default: the first server of the document." }),
    headers: z
      .record(z.string(), string)
      .optional()
      .meta({ description: "Headers of calls; may contain ${secret:NAME}." }),
    auth: z.record(z.string(), string).optional().meta({
      description: "The credential of each security scheme of the document, by name; may contain ${secret:NAME}.",
    }),
    include: z
      .array(nonEmptyString)
      .min(1)
      .optional()
      .meta({ description: 'Operations to offer: "list*", or "GET /pets/*" with method and path. Default: all.' }),
    exclude: z
      .array(nonEmptyString)
      .min(1)
      .optional()
      .meta({ description: "Operations to exclude, in the format of include." }),
    ...upstreamPolicySchemas,
    pin: pinSchema.optional().meta({ description: "The setting pin for this API only." }),
    startupTimeoutMs: integer({ min: 1, max: 600_000, usual: 30_000 }, "Time limit for reading the document."),
    disabled: z
      .boolean()
      .default(false)
      .meta({ description: "true ignores the API; the rest of its entry is not checked." }),
  })
  .meta({ description: "One API." });

/** A path, or an object with a path and settings. */
export const adapterSchema = z.union([
  nonEmptyString,
  z.strictObject({
    module: nonEmptyString.meta({ description: "The module, relative to the folder of this configuration." }),
    ...upstreamPolicySchemas,
    pin: pinSchema.optional().meta({ description: "The setting pin for the adapters of this module only." }),
  }),
]);
