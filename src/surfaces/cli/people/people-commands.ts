/** `glovebox people`: who may log in, with which roles, and whom local clients act for. */

import type { Command } from "commander";

import { GloveboxError, parsePrincipalId } from "../../../domain/index.ts";
import { ROLES } from "../../../identity/index.ts";
import type { Sessions } from "../../../identity/index.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { findPage } from "./find-page.ts";
import type { OperatorRecords } from "../../operator-records.ts";
import { countOf, printLine } from "../print.ts";

interface RoleFlags {
  readonly role?: readonly string[];
}

interface AddFlags extends RoleFlags {
  readonly again?: boolean;
}

const collect = (value: string, former: readonly string[] = []): readonly string[] => [...former, ...value.split(",")];
const ROLE_HELP = `one of ${ROLES.join(", ")}; repeat it for several`;

export function addPeople(program: Command, { addCommand, addJsonCommand }: Commands): void {
  const people = addJsonCommand(program, "people", "list the people of this gateway", listPeople);
  addJsonCommand(people, "list", "list the people of this gateway", listPeople);
  addJsonCommand(people, "add <name>", "add a person", addPerson)
    .option("--role <role>", ROLE_HELP, collect)
    .option("--again", "the same person as one of this name who was removed");
  addJsonCommand(people, "roles <name>", "replace the roles of a person", setRoles).option(
    "--role <role>",
    ROLE_HELP,
    collect,
  );
  addJsonCommand(people, "invite <name>", "print a link that sets the password of a person once", invitePerson);
  addCommand(people, "remove <name>", "remove a person, with their tokens and sessions", removePerson);
  addJsonCommand(people, "sessions [name]", "list the browsers that are logged in, of one person or all", listSessions);
  addJsonCommand(people, "logout [name]", "end the sessions of a person, one session or all", logOut)
    .option("--session <id>", "only this session")
    .option("--all", "the sessions of everyone");
  addJsonCommand(people, "passkeys [name]", "list the passkeys of one person or all", listPasskeys).option(
    "--remove <id>",
    "remove this one",
  );
  addJsonCommand(people, "clients [name]", "list the MCP clients that people let in", listClients).option(
    "--end <id>",
    "end the login of this one, and what it runs",
  );
  addJsonCommand(people, "adopt <name>", "hand over to a person what belongs to local clients", adoptLocal);
  addJsonCommand(people, "reset <name>", "let a person who is locked out in again, as an operator", resetPerson);
}

async function listPeople({ openRecords, print }: Invocation): Promise<void> {
  await using records = await openRecords();
  const people = await (await records.openIdentity()).people.list();
  print(
    { people },
    people.map(({ name, roles, issuer }) => {
      const from = issuer === undefined ? "" : `  logs in at ${issuer}`;
      return `person:${name}  ${roles.join(", ") || "no role"}${from}`;
    }),
  );
}

/** Where a login is required, also prints the link that sets the password. */
async function addPerson(invocation: Invocation<AddFlags>, name: string): Promise<void> {
  const { flags, principal, openRecords, print, readSettings } = invocation;
  await using records = await openRecords();
  const { people } = await records.openIdentity();
  const person = await people.add(name, flags.role ?? [], principal, { isAgain: flags.again === true });
  const { server } = await readSettings();
  // A person of a login provider who is added again logs in there.
  const isElsewhere = (await people.list()).find((one) => one.name === person.name)?.issuer !== undefined;
  const needsInvite = server.auth === "required" && !isElsewhere;
  const invite = needsInvite ? await createInvite(invocation, records, name) : undefined;
  print({ ...person, ...(invite && { invite }) }, [
    `person:${person.name} was added with the roles ${person.roles.join(", ")}`,
    ...(invite ? describeInvite(name, invite) : []),
  ]);
}

async function invitePerson(invocation: Invocation, name: string): Promise<void> {
  await using records = await invocation.openRecords();
  const invite = await createInvite(invocation, records, name);
  invocation.print(invite, describeInvite(name, invite));
}

async function createInvite({ principal, readSettings }: Invocation, records: OperatorRecords, name: string) {
  const page = await findPage(records, await readSettings());
  const { code, expiresAt } = await (await records.openIdentity()).logins.invite(name, principal);
  // A fragment is not sent to servers, so no log has the code.
  return { url: `${page}/login#invite=${code}`, expiresAt };
}

function describeInvite(name: string, invite: { readonly url: string; readonly expiresAt: number }): string[] {
  const until = new Date(invite.expiresAt).toISOString();
  return [`This link sets the password of ${name}, once, until ${until}. Pass it on in private:`, invite.url];
}

async function setRoles({ flags, principal, openRecords, print }: Invocation<RoleFlags>, name: string): Promise<void> {
  await using records = await openRecords();
  const person = await (await records.openIdentity()).people.setRoles(name, flags.role ?? [], principal);
  print(person, [`person:${person.name} now has the roles ${person.roles.join(", ")}`]);
}

async function removePerson({ principal, terminal, openRecords }: Invocation, name: string): Promise<void> {
  await using records = await openRecords();
  await (await records.openIdentity()).people.remove(name, principal);
  printLine(terminal.stderr, `person:${name} was removed; their tokens and sessions have ended`);
}

async function listSessions({ openRecords, print }: Invocation, name?: string): Promise<void> {
  await using records = await openRecords();
  const all = await (await records.openIdentity()).sessions.list();
  const sessions = name === undefined ? all : all.filter(({ principal }) => principal === `person:${name}`);
  print(
    { sessions },
    sessions.map(({ id, principal, origin, createdAt, authenticatedAt }) => {
      const [opened, login] = [createdAt, authenticatedAt].map((at) =>
        at === 0 ? "unknown" : new Date(at).toISOString(),
      );
      return `${id}  ${principal}  from ${origin}, opened ${opened}, last login ${login}`;
    }),
  );
}

async function listPasskeys(invocation: Invocation<{ readonly remove?: string }>, name?: string): Promise<void> {
  const { flags, principal, openRecords, print } = invocation;
  if (flags.remove !== undefined && name !== undefined)
    throw new GloveboxError("REQUEST_INVALID", "Name a person or a passkey to remove, not both", {
      hint: "glovebox people passkeys --remove ID",
    });
  await using records = await openRecords();
  const { passkeys } = await records.openIdentity();
  if (flags.remove !== undefined) {
    const removed = await passkeys.remove(flags.remove, principal);
    return print({ removed }, [`The passkey ${removed.label} of ${removed.principal} was removed`]);
  }
  const found = (await passkeys.list()).filter((one) => name === undefined || one.principal === `person:${name}`);
  const lines = found.map(({ id, principal: person, label, createdAt, lastUsedAt }) => {
    const [added, used] = [createdAt, lastUsedAt].map((at) =>
      at === undefined ? "never" : new Date(at).toISOString(),
    );
    return `${id}  ${person}  ${label}, added ${added}, last used ${used}`;
  });
  print({ passkeys: found }, lines);
}

async function listClients(invocation: Invocation<{ readonly end?: string }>, name?: string): Promise<void> {
  const { flags, principal, openRecords, print } = invocation;
  if (flags.end !== undefined && name !== undefined)
    throw new GloveboxError("REQUEST_INVALID", "Name a person or the login of a client to end, not both", {
      hint: "glovebox people clients --end ID",
    });
  await using records = await openRecords();
  const { clientLogins } = await records.openIdentity();
  if (flags.end !== undefined) {
    const ended = await clientLogins.end(flags.end, principal);
    if (!ended) throw unknownClient(flags.end);
    return print({ ended }, [`The login of ${ended.principal} has ended`]);
  }
  const found = (await clientLogins.list()).filter(({ person }) => name === undefined || person === `person:${name}`);
  const lines = found.map(({ id, principal: agent, scopes, createdAt, expiresAt }) => {
    const [since, until] = [createdAt, expiresAt].map((at) => new Date(at).toISOString());
    return `${id}  ${agent}  ${scopes.join(",")}  since ${since}, until ${until}`;
  });
  print({ clients: found }, lines);
}

function unknownClient(id: string): GloveboxError {
  const shown = JSON.stringify(id.slice(0, 80));
  return new GloveboxError("REQUEST_NOT_FOUND", `${shown} is not the login of a client, or it has ended`, {
    hint: "`glovebox people clients` shows the ids",
  });
}

interface LogoutFlags {
  readonly session?: string;
  readonly all?: boolean;
}

async function logOut({ flags, principal, openRecords, print }: Invocation<LogoutFlags>, name?: string): Promise<void> {
  const which = parseWhich(flags, name);
  await using records = await openRecords();
  const ended = await (await records.openIdentity()).sessions.end(which, principal);
  print({ ended }, [`${countOf(ended, "session")} ended`]);
}

function parseWhich({ session, all }: LogoutFlags, name: string | undefined): Parameters<Sessions["end"]>[0] {
  const person = name === undefined ? undefined : parsePrincipalId(`person:${name}`);
  const chosen = [session, all, name].filter((one) => one !== undefined).length;
  if (chosen === 1 && session !== undefined) return { id: session };
  if (chosen === 1 && all === true) return "all";
  if (chosen === 1 && person !== undefined) return { principal: person };
  throw new GloveboxError("REQUEST_INVALID", "Name one person, one session or all of them", {
    hint: "glovebox people logout NAME, --session ID or --all; `glovebox people sessions` lists them",
  });
}

async function adoptLocal({ principal, openRecords, print }: Invocation, name: string): Promise<void> {
  await using records = await openRecords();
  const adopted = await (await records.openIdentity()).people.adopt(name, principal);
  print({ principal: adopted.principal.id, executions: adopted.executions }, [
    `${countOf(adopted.executions, "execution")} and all else of local now belong to ${adopted.principal.id}`,
    "Local clients act for this person from the next start; rules that name local still apply to them",
  ]);
}

async function resetPerson(invocation: Invocation, name: string): Promise<void> {
  const { principal, terminal, openRecords, print, readSettings } = invocation;
  await using records = await openRecords();
  await (await records.openIdentity()).people.reset(name, principal);
  printLine(terminal.stderr, `person:${name} is an operator; their password, passkeys, tokens and sessions have ended`);
  if ((await readSettings()).server.auth !== "required") return;
  const invite = await createInvite(invocation, records, name);
  print({ invite }, describeInvite(name, invite));
}
