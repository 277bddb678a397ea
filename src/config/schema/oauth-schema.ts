/** Schema of `server.oauth`: how MCP clients log in. */

import { z } from "zod";

import { isLoopbackHost } from "../formats.ts";
import { choice, integer, nonEmptyString, optional } from "./fields.ts";

/** https, or http on this machine, without what an identifier of a server cannot have. */
function isServerUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false;
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(name));
}

const serverUrl = z
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

export const oauthSchema = optional(
  z.strictObject({
    external: optional(externalSchema, "An authorization server whose access tokens (JWT) `/mcp` accepts."),
  }),
  "How MCP clients log in where access tokens are required.",
);
