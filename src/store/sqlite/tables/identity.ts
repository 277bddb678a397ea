/** People, tokens, sessions and one-time codes. */

import { CODE, OAUTH_RECORD, PASSKEY, PASSWORD, PERSON, PROVIDER_LOGIN, SESSION, TOKEN } from "../../identity.ts";
import type { EndedCredentials, Ending, IdentityStore } from "../../identity.ts";

import { insertInto } from "../connection.ts";
import type { Connection } from "../connection.ts";

/** Every table with rows of a principal. Quotas are counts of a minute to a day, and stay. */
const OWNED = ["executions", "results", "request_keys", "taken_labels", "approvals"] as const;

export function createIdentity(connection: Connection): IdentityStore {
  return {
    ...createPeople(connection),
    ...createPasswords(connection),
    ...createPasskeys(connection),
    ...createProviderLogins(connection),
    ...createTokens(connection),
    ...createSessions(connection),
    ...createOauth(connection),
  };
}

type PeopleStore = Pick<
  IdentityStore,
  "addPerson" | "endCredentials" | "findPerson" | "handOver" | "listPeople" | "removePerson" | "setRoles"
>;

/** Call the returned function in a transaction. */
function prepareEnd({ database }: Pick<Connection, "database">): (name: string, how: Ending) => EndedCredentials {
  const principal = "'person:' || ?";
  const revoke = database.prepare(
    `UPDATE tokens SET revoked_at = ?, revoked_by = ? WHERE revoked_at IS NULL AND person = ${principal} RETURNING *`,
  );
  const endSessions = database.prepare(`DELETE FROM sessions WHERE principal = ${principal} RETURNING *`);
  const removals = [
    `passwords WHERE principal = ${principal}`,
    `passkeys WHERE principal = ${principal}`,
    `login_codes WHERE principal = ${principal}`,
    "oauth_records WHERE person = ?",
  ].map((place) => database.prepare(`DELETE FROM ${place}`));
  return (name, { at, by }) => {
    for (const removal of removals) removal.run(name);
    return { tokens: revoke.all(at, by, name).map(TOKEN.parse), sessions: endSessions.all(name).map(SESSION.parse) };
  };
}

function createPeople({ database, read, write }: Connection): PeopleStore {
  const insert = database.prepare(`${insertInto("people", PERSON)} ON CONFLICT DO NOTHING`);
  const select = database.prepare("SELECT * FROM people WHERE name = ?");
  const selectAll = database.prepare("SELECT * FROM people ORDER BY name");
  const update = database.prepare("UPDATE people SET roles = ? WHERE name = ?");
  const remove = database.prepare("DELETE FROM people WHERE name = ?");
  const end = prepareEnd({ database });
  const moves = OWNED.map((table) =>
    database.prepare(`UPDATE OR REPLACE ${table} SET principal = ? WHERE principal = ?`),
  );
  const columns = "connector, remote_name, definition, shape, samples, changed_at";
  const copyShapes = database.prepare(
    `INSERT OR IGNORE INTO learned_shapes (owner, ${columns}) SELECT ?, ${columns} FROM learned_shapes WHERE owner = ?`,
  );
  const find = (name: string) => PERSON.parseIfFound(select.get(name));
  const isLast = (name: string): boolean => {
    const operators = selectAll
      .all()
      .map(PERSON.parse)
      .filter(({ roles }) => roles.includes("operator"));
    return operators.length === 1 && operators[0]?.name === name;
  };
  return {
    addPerson: (row) => write(() => Number(insert.run(...PERSON.toValues(row)).changes) > 0),
    findPerson: (name) => read(() => find(name)),
    listPeople: () => read(() => selectAll.all().map(PERSON.parse)),
    setRoles: (name, roles) =>
      write(() => {
        if (!find(name)) return "unknown";
        if (!roles.includes("operator") && isLast(name)) return "last";
        update.run(JSON.stringify(roles), name);
        return "changed";
      }),
    removePerson: (name, how) =>
      write(() => {
        if (!find(name)) return "unknown";
        if (isLast(name)) return "last";
        remove.run(name);
        return end(name, how);
      }),
    endCredentials: (name, how) => write(() => end(name, how)),
    handOver: (from, to) =>
      write(() => {
        copyShapes.run(to.person, from.person);
        return Number(moves.map((move) => move.run(to.id, from.id).changes)[0]);
      }),
  };
}

type PasswordStore = Pick<IdentityStore, "findPassword" | "setPassword">;

function createPasswords({ database, read, write }: Connection): PasswordStore {
  const set = database.prepare(
    `INSERT OR REPLACE INTO passwords (principal, verifier, set_at)
       SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM people WHERE 'person:' || name = ?1)`,
  );
  const select = database.prepare("SELECT * FROM passwords WHERE principal = ?");
  return {
    setPassword: ({ principal, verifier, setAt }) =>
      write(() => Number(set.run(principal, verifier, setAt).changes) > 0),
    findPassword: (principal) => read(() => PASSWORD.parseIfFound(select.get(principal))),
  };
}

type PasskeyStore = Pick<
  IdentityStore,
  "addPasskey" | "findPasskey" | "listPasskeys" | "notePasskeyUse" | "removePasskey"
>;

function createPasskeys({ database, read, write }: Connection): PasskeyStore {
  const insert = database.prepare(`${insertInto("passkeys", PASSKEY)} ON CONFLICT DO NOTHING`);
  const person = database.prepare("SELECT 1 FROM people WHERE 'person:' || name = ?");
  const select = database.prepare("SELECT * FROM passkeys WHERE id = ?");
  const selectAll = database.prepare("SELECT * FROM passkeys ORDER BY created_at, id");
  const note = database.prepare(
    `UPDATE passkeys SET counter = ?1, last_used_at = ?2
       WHERE id = ?3 AND (counter < ?1 OR (counter = 0 AND ?1 = 0))`,
  );
  const remove = database.prepare("DELETE FROM passkeys WHERE id = ? RETURNING *");
  return {
    addPasskey: (row) =>
      write(() => {
        if (!person.get(row.principal)) return false;
        return Number(insert.run(...PASSKEY.toValues(row)).changes) > 0;
      }),
    findPasskey: (id) => read(() => PASSKEY.parseIfFound(select.get(id))),
    listPasskeys: () => read(() => selectAll.all().map(PASSKEY.parse)),
    notePasskeyUse: (id, { counter, at }) => write(() => Number(note.run(counter, at, id).changes) > 0),
    removePasskey: (id) => write(() => PASSKEY.parseIfFound(remove.get(id))),
  };
}

type ProviderStore = Pick<
  IdentityStore,
  "admitProviderLogin" | "findProviderLogin" | "listProviderLogins" | "removeProviderLogin"
>;

function createProviderLogins({ database, read, write }: Connection): ProviderStore {
  const bySubject = database.prepare("SELECT * FROM provider_logins WHERE issuer = ? AND subject = ?");
  const byPerson = database.prepare("SELECT * FROM provider_logins WHERE person = ?");
  const selectAll = database.prepare("SELECT * FROM provider_logins ORDER BY person");
  const insert = database.prepare(insertInto("provider_logins", PROVIDER_LOGIN));
  const remove = database.prepare("DELETE FROM provider_logins WHERE person = ?");
  const note = database.prepare("UPDATE provider_logins SET last_login_at = ? WHERE issuer = ? AND subject = ?");
  const insertPerson = database.prepare(`${insertInto("people", PERSON)} ON CONFLICT DO NOTHING`);
  const setRoles = database.prepare("UPDATE people SET roles = ? WHERE name = ? RETURNING *");
  return {
    findProviderLogin: (by) =>
      read(() => {
        const row = "subject" in by ? bySubject.get(by.issuer, by.subject) : byPerson.get(by.person);
        return PROVIDER_LOGIN.parseIfFound(row);
      }),
    removeProviderLogin: (person) => write(() => void remove.run(person)),
    listProviderLogins: () => read(() => selectAll.all().map(PROVIDER_LOGIN.parse)),
    admitProviderLogin: (login, roles) =>
      write(() => {
        const { issuer, subject, lastLoginAt, person: name } = login;
        const known = PROVIDER_LOGIN.parseIfFound(bySubject.get(issuer, subject));
        if (known) {
          note.run(lastLoginAt, issuer, subject);
          return PERSON.parseIfFound(setRoles.get(JSON.stringify(roles), known.person)) ?? "taken";
        }
        const person = { name, roles, createdAt: login.createdAt, createdBy: issuer };
        if (Number(insertPerson.run(...PERSON.toValues(person)).changes) === 0) return "taken";
        insert.run(...PROVIDER_LOGIN.toValues(login));
        return person;
      }),
  };
}

type TokenStore = Pick<IdentityStore, "addToken" | "findToken" | "listTokens" | "noteTokenUse" | "revokeToken">;

function createTokens({ database, read, write, commit }: Connection): TokenStore {
  const insert = database.prepare(insertInto("tokens", TOKEN));
  const byDigest = database.prepare("SELECT * FROM tokens WHERE digest = ?");
  const byName = database.prepare("SELECT * FROM tokens WHERE name = ? ORDER BY created_at DESC, rowid DESC LIMIT 1");
  const selectAll = database.prepare("SELECT * FROM tokens ORDER BY created_at DESC, id DESC");
  const revoke = database.prepare(
    `UPDATE tokens SET revoked_at = ?, revoked_by = ?
       WHERE revoked_at IS NULL AND (id = ? OR name = ?) RETURNING *`,
  );
  const note = database.prepare("UPDATE tokens SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?");
  return {
    addToken: (row, replaces) =>
      write(() => {
        if (!replaces && byName.get(row.name)) return undefined;
        const replaced = revoke.all(row.createdAt, row.createdBy, null, row.name).map(TOKEN.parse);
        insert.run(...TOKEN.toValues(row));
        return replaced;
      }),
    findToken: (by) => read(() => TOKEN.parseIfFound("digest" in by ? byDigest.get(by.digest) : byName.get(by.name))),
    listTokens: () => read(() => selectAll.all().map(TOKEN.parse)),
    revokeToken: (id, { at, by }) => write(() => TOKEN.parseIfFound(revoke.get(at, by, id, null))),
    noteTokenUse: (id, at) => commit(() => void note.run(at, id)),
  };
}

type OauthStore = Pick<
  IdentityStore,
  | "consumeOauthRecord"
  | "countOauthRecords"
  | "findOauthRecord"
  | "listOauthRecords"
  | "putOauthRecord"
  | "removeOauthRecords"
>;

function createOauth({ database, read, write }: Connection): OauthStore {
  const insert = database.prepare(insertInto("oauth_records", OAUTH_RECORD).replace(/^INSERT/, "INSERT OR REPLACE"));
  const expire = database.prepare("DELETE FROM oauth_records WHERE expires_at <= ?");
  const isValid = "(expires_at IS NULL OR expires_at > ?)";
  const byDigest = database.prepare(`SELECT * FROM oauth_records WHERE digest = ? AND ${isValid}`);
  const byGrant = database.prepare(
    `SELECT * FROM oauth_records AS found WHERE digest = ?1 AND expires_at > ?2
     AND EXISTS (SELECT 1 FROM oauth_records AS given WHERE given.digest = found.grant_digest AND given.expires_at > ?2)`,
  );
  const byUid = database.prepare(`SELECT * FROM oauth_records WHERE uid_digest = ? AND ${isValid}`);
  const listed = database.prepare(
    `SELECT * FROM oauth_records WHERE model = ? AND ${isValid} AND person = coalesce(?, person) ORDER BY digest`,
  );
  const consume = database.prepare("UPDATE oauth_records SET consumed_at = ? WHERE digest = ? AND consumed_at IS NULL");
  const count = database.prepare(`SELECT count(*) AS count FROM oauth_records WHERE model = ? AND ${isValid}`);
  const remove = database.prepare("DELETE FROM oauth_records WHERE digest = ? OR grant_digest = ?");
  return {
    putOauthRecord: (row, now) =>
      write(() => {
        expire.run(now);
        insert.run(...OAUTH_RECORD.toValues(row));
      }),
    findOauthRecord: (by, now) =>
      read(() => {
        if ("uid" in by) return OAUTH_RECORD.parseIfFound(byUid.get(by.uid, now));
        return OAUTH_RECORD.parseIfFound((by.granted === true ? byGrant : byDigest).get(by.digest, now));
      }),
    countOauthRecords: (model, now) => read(() => Number(count.get(model, now)?.["count"])),
    listOauthRecords: (model, now, person) =>
      read(() => listed.all(model, now, person ?? null).map(OAUTH_RECORD.parse)),
    consumeOauthRecord: (digest, at) => write(() => Number(consume.run(at, digest).changes) > 0),
    removeOauthRecords: (which) => {
      const login = "login" in which ? which.login : undefined;
      const digest = "digest" in which ? which.digest : (login ?? null);
      const grant = "grant" in which ? which.grant : (login ?? null);
      return write(() => Number(remove.run(digest, grant).changes));
    },
  };
}

type SessionStore = Omit<
  IdentityStore,
  | keyof OauthStore
  | keyof PasskeyStore
  | keyof PasswordStore
  | keyof PeopleStore
  | keyof ProviderStore
  | keyof TokenStore
>;

function createSessions({ database, read, write }: Connection): SessionStore {
  const insert = database.prepare(insertInto("sessions", SESSION));
  const select = database.prepare("SELECT * FROM sessions WHERE digest = ? AND expires_at > ?");
  const selectById = database.prepare("SELECT * FROM sessions WHERE id = ? AND expires_at > ?");
  const selectAll = database.prepare("SELECT * FROM sessions ORDER BY created_at DESC, id DESC");
  const expire = database.prepare("DELETE FROM sessions WHERE expires_at <= ?");
  const end = database.prepare("DELETE FROM sessions WHERE id = ? OR principal = ? RETURNING *");
  const endAll = database.prepare("DELETE FROM sessions RETURNING *");
  const insertCode = database.prepare(insertInto("login_codes", CODE));
  const expireCodes = database.prepare("DELETE FROM login_codes WHERE expires_at <= ?");
  const takeCode = database.prepare(
    "DELETE FROM login_codes WHERE digest = ? AND purpose = ? AND expires_at > ? RETURNING *",
  );
  const removeCodes = database.prepare("DELETE FROM login_codes WHERE principal = ? AND purpose = ?");
  return {
    addSession: (row) => write(() => void insert.run(...SESSION.toValues(row))),
    findSession: (by, now) =>
      read(() => SESSION.parseIfFound("id" in by ? selectById.get(by.id, now) : select.get(by.digest, now))),
    listSessions: (now) =>
      write(() => {
        expire.run(now);
        return selectAll.all().map(SESSION.parse);
      }),
    endSessions: (which) =>
      write(() => {
        if (which === "all") return endAll.all().map(SESSION.parse);
        const [id, principal] = "id" in which ? [which.id, null] : [null, which.principal];
        return end.all(id, principal).map(SESSION.parse);
      }),
    addCode: (row, now) =>
      write(() => {
        expireCodes.run(now);
        insertCode.run(...CODE.toValues(row));
      }),
    removeCodes: (principal, purpose) => write(() => void removeCodes.run(principal, purpose)),
    takeCode: (digest, purpose, now) => write(() => CODE.parseIfFound(takeCode.get(digest, purpose, now))),
  };
}
