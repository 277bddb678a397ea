/** Schema of upstreams: one entry of `mcpServers`, `openapi` and `adapters`. */

import { z } from "zod";

import { isClientMetadataUrl, isHttpUrl } from "../formats.ts";
import { choice, flag, integer, nonEmptyString, optional, readable, string, strings } from "./fields.ts";
import { serverPolicySchema, upstreamPolicySchemas } from "./network-schema.ts";
import { readHostPort } from "./values/host-pattern.ts";

const MAX_OAUTH_ENTRIES = 100;
const MAX_FOLDERS = 100;
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const oauthSchema = z
  .strictObject({
    clientId: optional(
      z.string().min(1),
      "The id of a client that you registered. Default: Glovebox registers itself.",
    ),
    clientSecret: optional(z.string().min(1), "The secret of that client; may contain ${secret:NAME}."),
    clientMetadataUrl: optional(
      z.string().refine(isClientMetadataUrl, "expected an https URL with a path, without query and fragment"),
      "The URL of your client ID metadata document; used if the server supports it.",
    ),
    scopes: z
      .array(z.string().regex(SCOPE, "expected a scope without spaces and quotes"))
      .max(MAX_OAUTH_ENTRIES)
      .default([])
      .describe("The scopes to request. Default: the scopes that the server announces."),
    grants: z
      .array(readable(readHostPort))
      .max(MAX_OAUTH_ENTRIES)
      .default([])
      .describe('"host:port" of authorization servers that may be in a private network and may use http.'),
  })
  .prefault({})
  .describe("How `glovebox servers login` logs in to a server with url. Most servers need no settings here.");

const folders = z.array(nonEmptyString).max(MAX_FOLDERS);

export const pinSchema = z.enum(["first-use", "approve"]);

const httpUrl = (alternative: string) =>
  z
    .string()
    .refine(isHttpUrl, `expected an http or https URL without user name and password (use ${alternative} for those)`);

/** Which keys are allowed depends on the transport; `check-relations.ts` checks that. */
export const serverSchema = z
  .strictObject({
    type: optional(
      z.enum(["stdio", "http", "streamable-http", "streamableHttp", "sse"]),
      "The transport. Only needed for sse: command implies stdio, url implies Streamable HTTP.",
    ),
    command: optional(nonEmptyString, "The command that starts the server, without a shell."),
    args: optional(z.array(string), "Arguments of the command."),
    env: optional(strings, "Environment variables; may contain ${secret:NAME}."),
    cwd: optional(nonEmptyString, "The working folder, relative to the folder of this configuration."),
    files: optional(
      z.strictObject({
        read: optional(folders, "Folders that the server reads, relative to the folder of this configuration."),
        write: optional(folders, "Folders that the server writes, relative to the folder of this configuration."),
      }),
      "Files and folders that the server uses. With confine, these and no others; without, they are only checked.",
    ),
    confine: optional(
      z.enum(["off", "files", "strict"]),
      "The confinement of a server with command. off: it has your rights. files: only listed files and hosts. strict: also its own namespaces. Default: off.",
    ),
    limits: optional(
      z.strictObject({
        memoryBytes: optional(
          z.int().min(16_777_216).max(1_099_511_627_776),
          "Data of each process of a confined server.",
        ),
        processes: optional(
          z.int().min(1).max(100_000),
          "Processes and threads of a confined server. At files, all of your account count.",
        ),
        openFiles: optional(z.int().min(16).max(1_048_576), "Open files of each process of a confined server."),
      }),
      "Resource limits of a confined server.",
    ),
    installScripts: optional(
      z.boolean(),
      "true runs the install scripts of packages for a confined server with npx, with your rights. Default: false.",
    ),
    url: optional(httpUrl("headers"), "The URL of a server with Streamable HTTP, or with SSE if type is sse."),
    headers: optional(strings, "Headers for url; may contain ${secret:NAME}."),
    oauth: oauthSchema,
    networkPolicy: serverPolicySchema,
    pin: optional(pinSchema, "The setting pin for this server only."),
    validate: choice(
      ["error", "warn"],
      "Results that do not match the declared output schema: error fails the call, warn keeps the value and adds a finding.",
    ),
    start: choice(
      ["eager", "lazy"],
      "eager connects when Glovebox starts, lazy at the first request for tools or the first program.",
    ),
    startupTimeoutMs: integer([1, 600_000], 30_000, "Time limit for the start of the server."),
    disabled: flag(false, "true ignores the server; the rest of its entry is not checked."),
  })
  .meta({ description: "One upstream.", oneOf: [{ required: ["command"] }, { required: ["url"] }] });

export const openapiSchema = z
  .strictObject({
    document: nonEmptyString.describe(
      "The OpenAPI document: a file, relative to the folder of this configuration, or an http or https URL.",
    ),
    baseUrl: optional(httpUrl("auth or headers"), "The URL of the API. Default: the first server of the document."),
    headers: optional(strings, "Headers of calls; may contain ${secret:NAME}."),
    auth: optional(
      strings,
      "The credential of each security scheme of the document, by name; may contain ${secret:NAME}.",
    ),
    include: optional(
      z.array(nonEmptyString).min(1),
      'Operations to offer: "list*", or "GET /pets/*" with method and path. Default: all.',
    ),
    exclude: optional(z.array(nonEmptyString).min(1), "Operations to exclude, in the format of include."),
    ...upstreamPolicySchemas,
    pin: optional(pinSchema, "The setting pin for this API only."),
    validate: choice(
      ["warn", "error"],
      "Results that do not match the declared schema: warn keeps the value and adds a finding, error fails the call.",
    ),
    startupTimeoutMs: integer([1, 600_000], 30_000, "Time limit for reading the document."),
    disabled: flag(false, "true ignores the API; the rest of its entry is not checked."),
  })
  .describe("One API.");

export const adapterSchema = z.union([
  nonEmptyString,
  z.strictObject({
    module: nonEmptyString.describe("The module, relative to the folder of this configuration."),
    ...upstreamPolicySchemas,
    pin: optional(pinSchema, "The setting pin for the adapters of this module only."),
  }),
]);
