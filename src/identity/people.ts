/** People, their roles, and what happens to what they own. */

import { GloveboxError, defined, hasRole } from "../domain/index.ts";
import type { Principal } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import type { IdentityPowers, StoredPerson } from "./powers.ts";
import { LOCAL, OPERATOR, parsePersonName, partsOfAgent, toAdopted, toPersonId, toTokenId } from "./principals.ts";
import { ROLES, parseRoles } from "./scopes.ts";

export interface People {
  /** REQUEST_CONFLICT for the name of a person who was removed, unless it is the same person again. */
  add(name: string, roles: readonly string[], by: Principal, options?: { isAgain?: boolean }): Promise<StoredPerson>;
  /** `issuer` is the provider at which a person logs in. */
  list(): Promise<readonly (StoredPerson & { readonly issuer?: string })[]>;
  setRoles(name: string, roles: readonly string[], by: Principal): Promise<StoredPerson>;
  /** Also revokes the tokens and ends the sessions of the person. REQUEST_CONFLICT for the last operator. */
  remove(name: string, by: Principal): Promise<void>;
  /** Hands over what belongs to `local`, and lets local clients act for the person from now on. */
  adopt(name: string, by: Principal): Promise<{ readonly executions: number; readonly principal: Principal }>;
  /**
   * Makes a person who is locked out an operator, ends their sessions, password and login at a provider. Only the local
   * user may.
   */
  reset(name: string, by: Principal): Promise<StoredPerson>;
}

/** The person whom local clients act for; unset before `people adopt`. */
export const ADOPTED_KEY = "identity.local";

/** Set for the name of a person who was removed: what is stored of that person must not become another's. */
export function toRemovedKey(name: string): string {
  return `identity.removed.${name}`;
}

type PeoplePowers = IdentityPowers & { readonly meta: Store["meta"] };

export function createPeople(powers: PeoplePowers): People {
  const { store, meta, record, now } = powers;
  const get = async (raw: string): Promise<StoredPerson> => {
    const name = parsePersonName(raw);
    const row = await store.findPerson(name);
    if (!row) throw unknown(name);
    return row;
  };
  return {
    async add(raw, rawRoles, by, { isAgain = false } = {}) {
      refuseUnlessOperator(by);
      const [name, roles] = [parsePersonName(raw), parseRoles(rawRoles)];
      const row = { name, roles, createdAt: now(), createdBy: by.id };
      if (await store.findPerson(name)) throw taken(name);
      if (!isAgain && (await meta.get(toRemovedKey(name))) !== undefined) throw removedBefore(name);
      await record({ actor: by.id, action: "person.added", subject: toPersonId(name), detail: { roles } });
      if (!(await store.addPerson(row))) throw taken(name);
      return row;
    },
    async list() {
      const logins = new Map((await store.listProviderLogins()).map(({ person, issuer }) => [person, issuer]));
      return (await store.listPeople()).map((row) => ({ ...row, ...defined({ issuer: logins.get(row.name) }) }));
    },
    async setRoles(raw, rawRoles, by) {
      refuseUnlessOperator(by);
      const [before, roles] = [await get(raw), parseRoles(rawRoles)];
      const provided = await store.findProviderLogin({ person: before.name });
      if (provided) throw rolesElsewhere(before.name, provided.issuer);
      if (!roles.includes("operator")) await refuseLast(before.name, store);
      const detail = { before: before.roles, after: roles };
      await record({ actor: by.id, action: "role.changed", subject: toPersonId(before.name), detail });
      if ((await store.setRoles(before.name, roles)) === "last") throw lastOperator(before.name);
      return { ...before, roles };
    },
    async remove(raw, by) {
      refuseUnlessOperator(by);
      const { name } = await get(raw);
      await refuseLast(name, store);
      await record({ actor: by.id, action: "person.removed", subject: toPersonId(name), detail: {} });
      await meta.set(toRemovedKey(name), String(now()));
      const removed = await store.removePerson(name, { at: now(), by: by.id });
      if (removed === "last") throw lastOperator(name);
      if (removed !== "unknown") await recordEnded(name, removed, by.id, powers);
    },
    adopt: async (raw, by) => adoptLocal(await get(raw), by, powers),
    async reset(raw, by) {
      if (by.id !== OPERATOR.id) throw onlyLocal(by);
      const row = await get(raw);
      const roles = ROLES.filter((role) => role === "operator" || row.roles.includes(role));
      await record({ actor: by.id, action: "person.reset", subject: toPersonId(row.name), detail: { roles } });
      await store.setRoles(row.name, roles);
      await store.removeProviderLogin(row.name);
      await recordEnded(row.name, await store.endCredentials(row.name, { at: now(), by: by.id }), by.id, powers);
      return { ...row, roles };
    },
  };
}

/** Before the record. The store decides: of two operators who remove each other at once, one is refused there. */
async function refuseLast(name: string, store: IdentityPowers["store"]): Promise<void> {
  const operators = (await store.listPeople()).filter(({ roles }) => roles.includes("operator"));
  if (operators.length === 1 && operators[0]?.name === name) throw lastOperator(name);
}

type EndedOfPerson = Awaited<ReturnType<IdentityPowers["store"]["endCredentials"]>>;

/** Records which tokens and sessions of a person have ended, and stops what they run. */
export async function recordEnded(
  name: string,
  { tokens, sessions }: EndedOfPerson,
  actor: string,
  { record, stop }: Pick<IdentityPowers, "record" | "stop">,
): Promise<void> {
  const person = toPersonId(name);
  for (const { id, name: token } of tokens)
    await record({ actor, action: "token.revoked", subject: `token:${token}`, detail: { id, person } });
  for (const { id } of sessions)
    await record({ actor, action: "session.ended", subject: id, detail: { principal: person } });
  const revoked = new Set<string>(tokens.map((token) => toTokenId(token.name)));
  await stop((principal) => revoked.has(principal) || partsOfAgent(principal)?.person === name, actor);
}

async function adoptLocal({ name }: StoredPerson, by: Principal, { store, record, meta }: PeoplePowers) {
  refuseUnlessOperator(by);
  const former = await meta.get(ADOPTED_KEY);
  if (former !== undefined && former !== name) throw adoptedBefore(former);
  const principal = toAdopted(name);
  const detail = { from: LOCAL.id, to: principal.id };
  await record({ actor: by.id, action: "person.adopted", subject: toPersonId(name), detail });
  await meta.set(ADOPTED_KEY, name);
  const [from, to] = [
    { id: LOCAL.id, person: OPERATOR.id },
    { id: principal.id, person: toPersonId(name) },
  ];
  return { executions: await store.handOver(from, to), principal };
}

function onlyLocal({ id }: Principal): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `${id} cannot reset a person`, {
    hint: "Run `glovebox people reset` as the user who owns the store",
  });
}

function refuseUnlessOperator(by: Principal): void {
  if (hasRole(by, "operator")) return;
  throw new GloveboxError("POLICY_DENIED", `${by.id} is not an operator, and only an operator can change people`, {
    hint: "An operator uses `glovebox people`",
  });
}

function unknown(name: string): GloveboxError {
  return new GloveboxError("REQUEST_NOT_FOUND", `${name} is not a person of this gateway`, {
    hint: "`glovebox people list` shows them; `glovebox people add` adds one",
  });
}

function taken(name: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `${name} is already a person of this gateway`, {
    hint: `Change the roles with: glovebox people roles ${name} --role ROLE`,
  });
}

function removedBefore(name: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `A person named ${name} was removed, and their records still exist`, {
    hint: `Choose another name; if it is the same person: glovebox people add ${name} --again`,
  });
}

function lastOperator(name: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `${name} is the last operator`, {
    hint: "Make another person an operator first",
  });
}

function rolesElsewhere(name: string, issuer: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `The roles of ${name} come from the groups at ${issuer}`, {
    hint: `Change the groups there, or \`server.oidc\`; the next login of ${name} takes over the roles`,
  });
}

function adoptedBefore(name: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `${name} has already adopted the local clients`, {
    hint: `Local clients act for ${name}; remove that person first, or let ${name} keep them`,
  });
}
