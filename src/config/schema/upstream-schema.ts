/** The part of the schema about where tools come from: MCP servers, APIs and adapters, one entry of each. */

import { z } from "zod";

import { isHttpUrl } from "../formats.ts";
import { serverPolicySchema, upstreamPolicySchemas } from "./network-schema.ts";
import { oauthSchema } from "./oauth-schema.ts";
import { nonEmptyText, text, whole } from "./fields.ts";

/** When a definition that was never seen counts as accepted. */
export const pinSchema = z.enum(["first-use", "approve"]);

/** Which keys go together depends on the transport: that is in `check-relations.ts`. */
export const serverSchema = z
  .strictObject({
    type: z
      .enum(["stdio", "http", "streamable-http", "streamableHttp", "sse"])
      .optional()
      .meta({ description: "The transport. Needed for sse only: command means stdio, url means Streamable HTTP." }),
    command: nonEmptyText.optional().meta({ description: "The program that is the server; started without a shell." }),
    args: z.array(text).optional().meta({ description: "Arguments of the command." }),
    env: z.record(z.string(), text).optional().meta({ description: "Its environment; may hold ${secret:NAME}." }),
    cwd: nonEmptyText.optional().meta({ description: "Its working folder, relative to this file's folder." }),
    url: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use headers for those)")
      .optional()
      .meta({ description: "The address of a server that speaks Streamable HTTP, or SSE if type says so." }),
    headers: z.record(z.string(), text).optional().meta({ description: "Sent to url; may hold ${secret:NAME}." }),
    oauth: oauthSchema,
    networkPolicy: serverPolicySchema,
    pin: pinSchema.optional().meta({ description: "As the setting pin, for this server alone." }),
    start: z.enum(["eager", "lazy"]).default("eager").meta({
      description: "eager connects when Glovebox starts, lazy when somebody first asks for tools or runs a program.",
    }),
    startupTimeoutMs: whole({ min: 1, max: 600_000, usual: 30_000 }, "How long the server may take to get ready."),
    disabled: z
      .boolean()
      .default(false)
      .meta({ description: "true leaves the server out; nothing else of its entry is checked then." }),
  })
  .meta({ description: "One upstream.", oneOf: [{ required: ["command"] }, { required: ["url"] }] });

/** One document and the host that its operations are sent to. */
export const openapiSchema = z
  .strictObject({
    document: nonEmptyText.meta({
      description: "The OpenAPI document: a file, relative to this file's folder, or an http or https URL.",
    }),
    baseUrl: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use auth or headers for those)")
      .optional()
      .meta({ description: "Where the API is; left out, the document's first server." }),
    headers: z.record(z.string(), text).optional().meta({ description: "Sent with calls; may hold ${secret:NAME}." }),
    auth: z.record(z.string(), text).optional().meta({
      description: "The credential of each security scheme of the document, by name; may hold ${secret:NAME}.",
    }),
    include: z
      .array(nonEmptyText)
      .min(1)
      .optional()
      .meta({ description: 'Operations to offer: "list*", or "GET /pets/*" with method and path. Left out, all.' }),
    exclude: z.array(nonEmptyText).min(1).optional().meta({ description: "Operations to leave out, as in include." }),
    ...upstreamPolicySchemas,
    pin: pinSchema.optional().meta({ description: "As the setting pin, for this API alone." }),
    startupTimeoutMs: whole({ min: 1, max: 600_000, usual: 30_000 }, "How long reading the document may take."),
    disabled: z
      .boolean()
      .default(false)
      .meta({ description: "true leaves the API out; nothing else of its entry is checked then." }),
  })
  .meta({ description: "One API." });

/** A path alone, or a path with what the adapter's `fetch` may reach. */
export const adapterSchema = z.union([
  nonEmptyText,
  z.strictObject({
    module: nonEmptyText.meta({ description: "The module, relative to this file's folder." }),
    ...upstreamPolicySchemas,
    pin: pinSchema.optional().meta({ description: "As the setting pin, for the adapters of this module alone." }),
  }),
]);
