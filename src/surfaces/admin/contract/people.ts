/** People, access tokens, and the MCP clients that people let in. Times are epoch milliseconds. */

import * as z from "zod/mini";

import { list } from "./base.ts";

/** A link that sets the password of a person once. Shown once. */
export const inviteSchema = z.object({ url: z.string(), expiresAt: z.number() });

const person = {
  name: z.string(),
  roles: list(z.string()),
  createdAt: z.number(),
  createdBy: z.string(),
};

/** `GET /api/people`. `issuer` is the provider at which a person logs in: their roles come from there. */
export const peopleSchema = z.object({ people: list(z.object({ ...person, issuer: z.optional(z.string()) })) });

/**
 * `POST /api/people` with `{ "name", "roles", "again"? }`, and `PUT /api/people/:name/roles` with `{ "roles" }`.
 * `invite` is present for a new person who needs a password; `POST /api/people/:name/invite` answers another one.
 */
export const personSchema = z.object({ ...person, invite: z.optional(inviteSchema) });

/** `DELETE /api/people/:name`. */
export const removedSchema = z.object({ removed: z.string() });

/** `DELETE` of sessions (`/api/sessions`, `/api/sessions/:id`, `/api/people/:name/sessions`) and of `/api/clients/:id`. */
export const endedSchema = z.object({ ended: z.number() });

const accessToken = {
  id: z.string(),
  name: z.string(),
  kind: z.enum(["agent", "service"]),
  /** The principal of the person behind it. */
  person: z.string(),
  scopes: list(z.string()),
  servers: z.optional(list(z.string())),
  tools: z.optional(list(z.string())),
  executionsPerMinute: z.optional(z.number()),
  profile: z.optional(z.string()),
  createdAt: z.number(),
  createdBy: z.string(),
  expiresAt: z.optional(z.number()),
  revokedAt: z.optional(z.number()),
  revokedBy: z.optional(z.string()),
  lastUsedAt: z.optional(z.number()),
};

/** The answer to `DELETE /api/tokens/:id`. */
export const accessTokenSchema = z.object(accessToken);

/** `GET /api/tokens`, newest first. `profiles` are the names that a new one can have. */
export const accessTokensSchema = z.object({ tokens: list(accessTokenSchema), profiles: list(z.string()) });

/**
 * `POST /api/tokens` with `{ "name", "scopes", "servers"?, "tools"?, "person"?, "executionsPerMinute"?, "profile"?,
 * "expiresAt"?, "replace"? }`. The only answer that has the token; `reach` is what a finder of it can do.
 */
export const createdTokenSchema = z.object({
  ...accessToken,
  token: z.string(),
  reach: z.object({ until: z.string(), can: list(z.string()) }),
});

/** `GET /api/clients`: MCP clients that people let in, the own ones, for an operator all. */
export const clientsSchema = z.object({
  clients: list(
    z.object({
      id: z.string(),
      /** The agent that the client is. */
      principal: z.string(),
      person: z.string(),
      client: z.string(),
      scopes: list(z.string()),
      createdAt: z.number(),
      expiresAt: z.number(),
    }),
  ),
});

export type InviteAnswer = z.infer<typeof inviteSchema>;
export type PeopleAnswer = z.infer<typeof peopleSchema>;
export type PersonAnswer = z.infer<typeof personSchema>;
export type RemovedAnswer = z.infer<typeof removedSchema>;
export type EndedAnswer = z.infer<typeof endedSchema>;
export type AccessTokenAnswer = z.infer<typeof accessTokenSchema>;
export type AccessTokensAnswer = z.infer<typeof accessTokensSchema>;
export type CreatedTokenAnswer = z.infer<typeof createdTokenSchema>;
export type ClientsAnswer = z.infer<typeof clientsSchema>;
