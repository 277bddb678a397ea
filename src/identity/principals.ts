/** The principals of this product, by name. No other room decides who a principal is. */

import { GloveboxError, defined, parsePrincipalId } from "../domain/index.ts";
import type { Principal, PrincipalId } from "../domain/index.ts";

import type { StoredPerson, StoredToken } from "./powers.ts";
import { parseRoles, parseScopes } from "./scopes.ts";

const OPERATOR_ID = toId("operator");
const LOCAL_ID = toId("local");

/** The user who started Glovebox and owns its files: the command line, and the page on this machine. */
export const OPERATOR: Principal = Object.freeze({
  id: OPERATOR_ID,
  kind: "person",
  roles: Object.freeze(["operator", "reviewer"] as const),
  groups: Object.freeze([]),
});

/** Clients of that user on this machine. */
export const LOCAL: Principal = Object.freeze({
  id: LOCAL_ID,
  kind: "agent",
  roles: Object.freeze(["agent"] as const),
  groups: Object.freeze([]),
  person: OPERATOR_ID,
});

/** A program that embeds Glovebox. */
export const LIBRARY: Principal = Object.freeze({
  id: toId("library"),
  kind: "service",
  groups: Object.freeze([]),
  person: OPERATOR_ID,
});

const LIBRARY_PREFIX = `${LIBRARY.id}:`;

/** One of the people of a program that embeds Glovebox. Rules that name the person or `library` also mean it. */
export function toLibraryPrincipal(rawName: unknown): Principal {
  const name = parsePersonName(rawName);
  const person = toPersonId(name);
  return { ...LIBRARY, id: toId(`${LIBRARY_PREFIX}${name}`), person, aliases: [LIBRARY.id, person] };
}

/** Returns the principal of stored records. */
export function findLibraryPrincipal(id: string): Principal | undefined {
  const name = id.startsWith(LIBRARY_PREFIX) ? id.slice(LIBRARY_PREFIX.length) : "";
  return PERSON_NAME.test(name) ? toLibraryPrincipal(name) : undefined;
}

/** A person whom the embedding program vouches for, with the roles that it says. */
export function toNamedPerson(rawName: string, roles: Principal["roles"] = ["operator", "reviewer"]): Principal {
  if (rawName === OPERATOR_ID) return OPERATOR;
  return { id: toPersonId(parsePersonName(rawName)), kind: "person", roles, groups: [] };
}

/** Lower case, so that no two names look alike; neither `:` nor `/`, which separate the parts of a principal. */
const PERSON_NAME = /^[a-z0-9][a-z0-9._@+-]{0,63}$/;
/** The client of people on this machine. No login makes a client of this name. */
export const LOCAL_CLIENT = "local";
export const CLIENT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Throws REQUEST_INVALID. */
export function parsePersonName(raw: unknown): string {
  if (typeof raw === "string" && PERSON_NAME.test(raw) && raw !== OPERATOR_ID) return raw;
  throw new GloveboxError("REQUEST_INVALID", `${show(raw)} is not a valid name of a person`, {
    hint: "Use 1 to 64 lower-case letters, digits and . _ @ + -, a letter or digit first, and not `operator`",
  });
}

/** Of a token, or of a client of a person. Throws REQUEST_INVALID. */
export function parseClientName(raw: unknown): string {
  if (typeof raw === "string" && CLIENT_NAME.test(raw)) return raw;
  throw new GloveboxError("REQUEST_INVALID", `${show(raw)} is not a valid name`, {
    hint: "Use 1 to 64 letters, digits and . _ -, a letter or digit first",
  });
}

export function toPersonId(name: string): PrincipalId {
  return toId(`person:${name}`);
}

/** Returns `undefined` for a principal that is not a person of the list. */
export function nameOfPerson(id: string): string | undefined {
  const [, name] = /^person:(.+)$/.exec(id) ?? [];
  return name !== undefined && PERSON_NAME.test(name) ? name : undefined;
}

/** A person of a provider has no role once none of their groups has one. */
export function toPerson({ name, roles }: Pick<StoredPerson, "name" | "roles">): Principal {
  return { id: toPersonId(name), kind: "person", roles: roles.length === 0 ? [] : parseRoles(roles), groups: [] };
}

/** An agent of a person, or of the `operator`. Rules that name the person also mean the agent. */
export function toAgent(person: string, client: string): Principal {
  const agent = { id: toId(`agent:${person}/${client}`), kind: "agent", roles: ["agent"], groups: [] } as const;
  if (person === OPERATOR_ID) return { ...agent, person: OPERATOR_ID };
  const behind = toPersonId(person);
  return { ...agent, person: behind, aliases: [behind] };
}

/** Clients on this machine after `people adopt`: rules that name `local` still mean them. */
export function toAdopted(person: string): Principal {
  const agent = toAgent(person, LOCAL_CLIENT);
  return { ...agent, aliases: [LOCAL_ID, ...(agent.aliases ?? [])] };
}

/** Returns the person and the client of `agent:PERSON/CLIENT`. */
export function partsOfAgent(id: string): { readonly person: string; readonly client: string } | undefined {
  const [, person, client] = /^agent:([^/]+)\/(.+)$/.exec(id) ?? [];
  if (person === undefined || client === undefined) return undefined;
  return PERSON_NAME.test(person) && CLIENT_NAME.test(client) ? { person, client } : undefined;
}

/** True for clients of the user who started Glovebox, and for programs that embed it. */
export function isLocalClient({ id }: Pick<Principal, "id">): boolean {
  return id === LOCAL_ID || id === LIBRARY.id || partsOfAgent(id)?.client === LOCAL_CLIENT;
}

const TOKEN_PREFIX = "token:";

export function toTokenId(name: string): PrincipalId {
  return toId(`${TOKEN_PREFIX}${name}`);
}

export function nameOfToken(id: string): string | undefined {
  const name = id.startsWith(TOKEN_PREFIX) ? id.slice(TOKEN_PREFIX.length) : "";
  return CLIENT_NAME.test(name) ? name : undefined;
}

/** `execute:read` without `execute` allows reads only. */
export function toTokenPrincipal(row: StoredToken): Principal {
  const { name, kind, person, scopes, servers, tools, executionsPerMinute } = row;
  const effects = parseScopes(scopes).includes("execute") ? undefined : (["read"] as const);
  const access = defined({ servers, tools, effects });
  const isNamed = nameOfPerson(person) !== undefined;
  return {
    id: toTokenId(name),
    kind,
    ...(kind === "agent" && { roles: ["agent"] }),
    groups: [],
    person,
    ...(isNamed && { aliases: [person] }),
    ...(Object.keys(access).length > 0 && { access }),
    ...defined({ executionsPerMinute }),
  };
}

export function notAdmitted(person: string): GloveboxError {
  const shown = JSON.stringify(person.slice(0, 80));
  return new GloveboxError("REQUEST_FORBIDDEN", `No agent may act for ${shown} at this gateway`, {
    hint: "An operator adds the person (glovebox people add) or the role (glovebox people roles NAME --role agent)",
  });
}

function toId(text: string): PrincipalId {
  const id = parsePrincipalId(text);
  if (id === undefined) throw new TypeError(`${text} is not a valid principal`);
  return id;
}

function show(raw: unknown): string {
  return JSON.stringify(typeof raw === "string" ? raw.slice(0, 80) : raw) ?? String(raw);
}
