/** People, access tokens and logins of MCP clients over the admin API. All but the own clients is for operators. */

import type { Hono } from "hono";
import * as z from "zod";

import { GloveboxError, defined, hasRole, parsePrincipalId } from "../../domain/index.ts";
import type { PrincipalId } from "../../domain/index.ts";
import type { Identity } from "../../identity/index.ts";
import { parseRequest, readBody } from "./api-routes.ts";
import { requireRole } from "./authenticate.ts";
import type { AppEnv, Caller } from "./authenticate.ts";
import type {
  AccessTokenAnswer,
  AccessTokensAnswer,
  ClientsAnswer,
  CreatedTokenAnswer,
  EndedAnswer,
  InviteAnswer,
  PeopleAnswer,
  PersonAnswer,
  RemovedAnswer,
} from "./contract/people.ts";

const MAX_NAME_CHARS = 200;
const ROLES = z.array(z.string().max(MAX_NAME_CHARS)).max(10);
const PERSON = z.strictObject({ name: z.string().max(MAX_NAME_CHARS), roles: ROLES, again: z.boolean().optional() });
const NEW_ROLES = z.strictObject({ roles: ROLES });
const TOKEN = z.strictObject({
  name: z.string(),
  scopes: z.array(z.string()),
  servers: z.array(z.string()).optional(),
  tools: z.array(z.string()).optional(),
  person: z.string().optional(),
  executionsPerMinute: z.int().min(1).optional(),
  profile: z.string().optional(),
  expiresAt: z.int().optional(),
  replace: z.boolean().optional(),
});

export interface PeopleDoor {
  readonly identity: Identity;
  /** People have passwords where a login is required. */
  readonly auth: "local" | "required";
  readonly pageUrl: () => string;
}

/** Mounted under `/api`, after the caller is known. */
export function addPeople(routes: Hono<AppEnv>, door: PeopleDoor): void {
  for (const path of ["/tokens", "/tokens/*", "/people", "/people/*"])
    routes.use(path, async (c, next) => {
      requireRole(c.get("caller"), ["operator"]);
      await next();
    });
  addPersons(routes, door);
  addTokens(routes, door.identity.tokens);
  addClients(routes, door.identity.clientLogins);
}

function addPersons(routes: Hono<AppEnv>, { identity, auth, pageUrl }: PeopleDoor): void {
  const { people, sessions, logins } = identity;
  const invite = async (name: string, by: Caller["principal"]): Promise<InviteAnswer> => {
    const { code, expiresAt } = await logins.invite(name, by);
    // A fragment is not sent to servers, so no log has the code.
    return { url: `${pageUrl()}/login#invite=${code}`, expiresAt };
  };
  routes.get("/people", async (c) => c.json({ people: await people.list() } satisfies PeopleAnswer));
  routes.post("/people", async (c) => {
    const { name, roles, again = false } = parseRequest(PERSON, await readBody(c.req.raw), "body");
    const { principal } = c.get("caller");
    const person = await people.add(name, roles, principal, { isAgain: again });
    // A person of a login provider who is added again logs in there.
    const isElsewhere = (await people.list()).some((one) => one.name === name && one.issuer !== undefined);
    const needsInvite = auth === "required" && !isElsewhere;
    return c.json({ ...person, ...(needsInvite && { invite: await invite(name, principal) }) } satisfies PersonAnswer);
  });
  routes.put("/people/:name/roles", async (c) => {
    const { roles } = parseRequest(NEW_ROLES, await readBody(c.req.raw), "body");
    return c.json(
      (await people.setRoles(c.req.param("name"), roles, c.get("caller").principal)) satisfies PersonAnswer,
    );
  });
  if (auth === "required")
    routes.post("/people/:name/invite", async (c) =>
      c.json(await invite(c.req.param("name"), c.get("caller").principal)),
    );
  routes.delete("/people/:name", async (c) => {
    const name = c.req.param("name");
    await people.remove(name, c.get("caller").principal);
    return c.json({ removed: name } satisfies RemovedAnswer);
  });
  routes.delete("/people/:name/sessions", async (c) => {
    const principal = toPerson(c.req.param("name"));
    return c.json({ ended: await sessions.end({ principal }, c.get("caller").principal) } satisfies EndedAnswer);
  });
}

function addTokens(routes: Hono<AppEnv>, tokens: Identity["tokens"]): void {
  routes.get("/tokens", async (c) =>
    c.json({ tokens: await tokens.list(), profiles: tokens.profiles } satisfies AccessTokensAnswer),
  );
  routes.post("/tokens", async (c) => {
    const { person, name, scopes, ...rest } = parseRequest(TOKEN, await readBody(c.req.raw), "body");
    const behind = person === undefined ? undefined : toPerson(person);
    const request = { name, scopes, ...defined({ ...rest, person: behind }) };
    const { summary, ...created } = await tokens.create(request, c.get("caller").principal);
    return c.json({ ...created, ...summary } satisfies CreatedTokenAnswer);
  });
  routes.delete("/tokens/:id", async (c) =>
    c.json((await tokens.revoke(c.req.param("id"), c.get("caller").principal)) satisfies AccessTokenAnswer),
  );
}

/** A person lists and ends the logins of their own clients; an operator those of all. */
function addClients(routes: Hono<AppEnv>, clientLogins: Identity["clientLogins"]): void {
  const list = async (caller: Caller) => {
    if (!caller.session) requireRole(caller, ["operator"]);
    const { principal } = caller;
    const found = await clientLogins.list();
    return hasRole(principal, "operator") ? found : found.filter(({ person }) => person === principal.id);
  };
  routes.get("/clients", async (c) => c.json({ clients: await list(c.get("caller")) } satisfies ClientsAnswer));
  routes.delete("/clients/:id", async (c) => {
    const caller = c.get("caller");
    const found = (await list(caller)).find(({ id }) => id === c.req.param("id"));
    const ended = found ? await clientLogins.end(found.id, caller.principal) : undefined;
    return c.json({ ended: ended ? 1 : 0 } satisfies EndedAnswer);
  });
}

function toPerson(name: string): PrincipalId {
  const id = parsePrincipalId(`person:${name}`);
  if (id !== undefined) return id;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(name.slice(0, 80))} is not a name of a person`, {
    hint: "GET /api/people lists them",
  });
}
