/**
 * The person of this gateway who a provider says has logged in. A person is bound to the issuer and its `sub`, never to
 * a name or an address, and has the roles of their groups from now on.
 */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { recordEnded, toRemovedKey } from "../people.ts";
import type { IdentityPowers } from "../powers.ts";
import { parsePersonName, toPerson, toPersonId } from "../principals.ts";
import type { CredentialRefusal } from "../record-refusals.ts";

import type { ProviderSettings } from "./provider-client.ts";
import type { ReadClaims } from "./read-claims.ts";

export interface ProvidedPerson {
  /** Of the provider. */
  readonly name: string;
  readonly title: string;
  readonly settings: Pick<ProviderSettings, "issuer" | "nameClaim">;
  readonly claims: ReadClaims;
  readonly origin: string;
  /** The only person who may have logged in. */
  readonly expected?: string;
}

interface AdmissionPowers extends IdentityPowers {
  readonly meta: Pick<Store["meta"], "get">;
  readonly refuse: (refusal: CredentialRefusal) => void;
}

/** The one who acts when a provider changes what a person may do. */
const ACTOR = "gateway";

/** Rejects with REQUEST_FORBIDDEN. */
export function createAdmission(powers: AdmissionPowers): (who: ProvidedPerson) => Promise<Principal> {
  const { store, meta, record, now, refuse } = powers;
  return async ({ name: provider, title, settings, claims, origin, expected }) => {
    const { issuer, nameClaim } = settings;
    const { subject, roles } = claims;
    const refused = (reason: string, message: string, hint: string, principal?: string): GloveboxError => {
      refuse({ what: "login", reason: `${provider}: ${reason}`, origin, ...defined({ principal }) });
      return new GloveboxError("REQUEST_FORBIDDEN", message, { hint });
    };
    const known = await store.findProviderLogin({ issuer, subject });
    const id = known && toPersonId(known.person);
    if (expected !== undefined && id !== expected)
      throw refused("another person", `${title} logged in another person`, `Log in as ${expected}`, expected);
    const name = known?.person ?? toName(claims.name);
    if (roles.length === 0 && !known)
      throw refused("no role", `None of your groups at ${title} has a role here`, ASK_OPERATOR);
    if (name === undefined)
      throw refused(`no usable ${nameClaim}`, `${title} sent no usable name (${nameClaim})`, ASK_OPERATOR);
    const person = toPersonId(name);
    const before = await store.findPerson(name);
    if (known && !before) throw refused("removed", `An operator removed ${name}`, ASK_OPERATOR, person);
    if (!known && (before || (await meta.get(toRemovedKey(name))) !== undefined))
      throw refused("name taken", nameTaken(name), TAKEN_HINT, person);
    const detail = { provider, issuer, subject };
    if (!before) await record({ actor: ACTOR, action: "person.added", subject: person, detail: { ...detail, roles } });
    else if (before.roles.join() !== roles.join()) {
      const change = { before: before.roles, after: roles, provider };
      await record({ actor: ACTOR, action: "role.changed", subject: person, detail: change });
    }
    const at = now();
    const row = await store.admitProviderLogin(
      { issuer, subject, person: name, createdAt: at, lastLoginAt: at },
      roles,
    );
    if (row === "taken") throw refused("name taken", nameTaken(name), TAKEN_HINT, person);
    if (row.roles.length > 0) return toPerson(row);
    await recordEnded(name, await store.endCredentials(name, { at, by: ACTOR }), ACTOR, powers);
    throw refused("no role", `None of your groups at ${title} has a role here any longer`, ASK_OPERATOR, person);
  };
}

const ASK_OPERATOR = "Ask an operator of this gateway";
const TAKEN_HINT = "An operator removes that person or gives you another name at the provider";

function nameTaken(name: string): string {
  return `The name ${name} belongs to another person of this gateway`;
}

const ASCII = /^[\x21-\x7e]+$/;

/** Names of people are in lower case, so that no two look alike. Some other letters have a plain one as lower case. */
function toName(raw: unknown): string | undefined {
  try {
    return parsePersonName(typeof raw === "string" && ASCII.test(raw) ? raw.toLowerCase() : undefined);
  } catch {
    return undefined;
  }
}
