/** Schema of `server.oauth`: how MCP clients log in. */

import { z } from "zod";

import { isLoopbackHost } from "../formats.ts";
import { choice, flag, integer, nonEmptyString, optional } from "./fields.ts";

/** https, or http on this machine, without what an identifier of a server cannot have. */
function isServerUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false;
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(name));
}

export const serverUrl = z
  .string()
  .refine(isServerUrl, "expected an https URL without a query; http is allowed for this machine only");

const externalSchema = z.strictObject({
  issuer: serverUrl.describe("The authorization server, exactly as its tokens name it in `iss`."),
  audience: optional(nonEmptyString, "What its tokens must have in `aud`; without it the address of `/mcp`."),
  algorithm: choice(
    ["RS256", "PS256", "ES256", "ES384", "EdDSA"],
    "The only algorithm of signatures that is accepted.",
  ),
  jwksUri: optional(serverUrl, "The address of its keys; without it the one in its metadata."),
  personClaim: nonEmptyString
    .default("sub")
    .describe("The claim with the name of a person of this gateway, such as `email` or `preferred_username`."),
  clockToleranceSeconds: integer([0, 300], 30, "How far its clock may differ from the one of this machine."),
});

const CLIENT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SCRIPTING = ["javascript:", "data:", "vbscript:", "file:", "blob:", "about:"];
const MAX_REDIRECTS = 20;

/** https, http on this machine, or a scheme of an application. */
function isRedirect(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || text.includes("#")) return false;
  const isLocal = isLoopbackHost(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (url.protocol === "https:" || url.protocol === "http:") return isLocal === (url.protocol === "http:");
  return !SCRIPTING.includes(url.protocol);
}

const clientSchema = z.strictObject({
  redirectUris: z
    .array(
      z.string().refine(isRedirect, "expected an https URL, an http URL of this machine, or one of an application"),
    )
    .min(1)
    .max(MAX_REDIRECTS)
    .describe("Where its logins may lead back to. On this machine the port does not matter."),
});

export const oauthSchema = optional(
  z.strictObject({
    external: optional(externalSchema, "An authorization server whose access tokens (JWT) `/mcp` accepts."),
    builtIn: flag(true, "Whether clients can log in at the gateway itself. Has no effect with `external`."),
    clients: z
      .record(z.string().regex(CLIENT_ID), clientSchema)
      .default({})
      .describe("Clients of the built-in server, by id. They have no secret."),
    registration: flag(true, "Whether clients may register themselves at the built-in server."),
    clientDocuments: flag(true, "Whether the id of a client may be the https address of a document about it."),
  }),
  "How MCP clients log in where access tokens are required.",
);
