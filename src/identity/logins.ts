/** Local accounts: invites, passwords, and the limits on guessing them. */

import { GloveboxError, defined, hasRole } from "../domain/index.ts";
import type { Instant, Principal, PrincipalId } from "../domain/index.ts";
import { DAY_MS } from "../timing/index.ts";

import type { LoginLimit } from "./login-limit.ts";
import { parsePassword } from "./passwords.ts";
import type { Passwords } from "./passwords.ts";
import type { IdentityPowers } from "./powers.ts";
import { nameOfPerson, toPersonId } from "./principals.ts";
import type { CredentialRefusal } from "./record-refusals.ts";
import type { OpenedSession, Sessions } from "./sessions.ts";

export interface PasswordLogins {
  /** Returns a code that sets the password of a person once. Earlier invites of the person stop working. */
  invite(name: string, by: Principal): Promise<{ readonly code: string; readonly expiresAt: Instant }>;
  /** Sets the password, ends former sessions and opens one; `undefined` if the code is unknown, used or expired. */
  accept(code: string, password: string, origin: string): Promise<OpenedSession | undefined>;
  /**
   * Opens a session; `undefined` for a wrong password, an unknown name and a person without a password, after the same
   * work. Rejects with LIMIT_QUOTA after too many attempts.
   */
  enter(who: { readonly name: string; readonly password: string }, origin: string): Promise<OpenedSession | undefined>;
}

interface LoginPowers extends IdentityPowers {
  readonly limit: LoginLimit;
  readonly passwords: Passwords;
  readonly sessions: Pick<Sessions, "end" | "open" | "openWhile">;
  readonly refuse: (refusal: CredentialRefusal) => void;
  readonly find: (id: PrincipalId) => Promise<Principal | undefined>;
}

const INVITE = "invite";
const INVITE_MS = 3 * DAY_MS;

export function createLogins(powers: LoginPowers): PasswordLogins {
  const { store, record, now, limit, passwords, sessions, refuse, find } = powers;
  const codeDigest = powers.digestFor("one-time codes");

  return {
    async invite(name, by) {
      const person = await find(toPersonId(name));
      if (!person || !hasRole(by, "operator")) throw cannotInvite(name, by, person);
      const provided = await store.findProviderLogin({ person: name });
      if (provided) throw logsInElsewhere(name, provided.issuer);
      const code = Buffer.from(powers.random(32)).toString("base64url");
      const expiresAt = now() + INVITE_MS;
      await record({ actor: by.id, action: "person.invited", subject: person.id, detail: { expiresAt } });
      await store.removeCodes(person.id, INVITE);
      await store.addCode({ digest: codeDigest(code), purpose: INVITE, principal: person.id, expiresAt }, now());
      return { code, expiresAt };
    },
    async accept(code, raw, origin) {
      const password = parsePassword(raw);
      const holder = await limit.take(undefined, origin);
      const verifier = await passwords.hash(password); // before the code is taken: a busy gateway does not use it up
      const row = await store.takeCode(codeDigest(code), INVITE, now());
      const person = row && (await find(row.principal));
      if (!person || !(await store.setPassword({ principal: person.id, verifier, setAt: now() }))) {
        refuse({ what: "code", reason: "unknown, used or expired invite", origin });
        return undefined;
      }
      await limit.giveBack(holder);
      await record({ actor: person.id, action: "password.set", subject: person.id, detail: { origin } });
      await sessions.end({ principal: person.id }, person);
      return sessions.open(person, origin);
    },
    async enter({ name, password }, origin) {
      const holder = await limit.take(name, origin);
      const id = nameOfPerson(`person:${name}`) === undefined ? undefined : toPersonId(name);
      const person = id && (await find(id));
      const stored = await store.findPassword(person?.id ?? toPersonId("unknown"));
      const verifier = person ? stored?.verifier : undefined;
      const { isRight, isOutdated } = await passwords.verify(password, verifier);
      if (!person || !isRight) {
        refuse({ what: "login", reason: "wrong name or password", origin, ...defined({ principal: person?.id }) });
        return undefined;
      }
      await limit.giveBack(holder);
      const renewed = isOutdated ? await passwords.hash(password) : undefined;
      const isCurrent = async (): Promise<boolean> => (await store.findPassword(person.id))?.verifier === verifier;
      await record({
        actor: person.id,
        action: "login.done",
        subject: person.id,
        detail: { origin, method: "password" },
      });
      const opened = await sessions.openWhile(isCurrent, person, origin);
      if (opened && renewed !== undefined)
        await store.setPassword({ principal: person.id, verifier: renewed, setAt: now() });
      return opened;
    },
  };
}

function cannotInvite(name: string, by: Principal, person: Principal | undefined): GloveboxError {
  if (person)
    return new GloveboxError("POLICY_DENIED", `${by.id} is not an operator, and only an operator can invite people`);
  return new GloveboxError("REQUEST_NOT_FOUND", `${name} is not a person of this gateway`, {
    hint: "`glovebox people list` shows them; `glovebox people add` adds one",
  });
}

/** A password would let a person in whom the provider no longer lets in. */
function logsInElsewhere(name: string, issuer: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `${name} logs in at ${issuer} and has no password here`, {
    hint: `\`glovebox people reset ${name}\` makes ${name} a person of this gateway alone`,
  });
}
