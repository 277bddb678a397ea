/** `glovebox people`: who may log in, with which roles, and whom local clients act for. */

import type { Command } from "commander";

import { ROLES } from "../../../identity/index.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { countOf, printLine } from "../print.ts";

interface RoleFlags {
  readonly role?: readonly string[];
}

const collect = (value: string, former: readonly string[] = []): readonly string[] => [...former, ...value.split(",")];
const ROLE = ["--role <role>", `one of ${ROLES.join(", ")}; repeat it for several`, collect] as const;

export function addPeople(program: Command, { addCommand, addJsonCommand }: Commands): void {
  const people = addJsonCommand(program, "people", "list the people of this gateway", listPeople);
  addJsonCommand(people, "list", "list the people of this gateway", listPeople);
  addJsonCommand(people, "add <name>", "add a person", addPerson).option(...ROLE);
  addJsonCommand(people, "roles <name>", "replace the roles of a person", setRoles).option(...ROLE);
  addCommand(people, "remove <name>", "remove a person, with their tokens and sessions", removePerson);
  addJsonCommand(people, "adopt <name>", "hand over to a person what belongs to local clients", adoptLocal);
  addCommand(people, "reset <name>", "let a person who is locked out in again, as an operator", resetPerson);
}

async function listPeople({ openRecords, print }: Invocation): Promise<void> {
  await using records = await openRecords();
  const people = await (await records.openIdentity()).people.list();
  print(
    { people },
    people.map(({ name, roles }) => `person:${name}  ${roles.join(", ")}`),
  );
}

async function addPerson({ flags, principal, openRecords, print }: Invocation<RoleFlags>, name: string): Promise<void> {
  await using records = await openRecords();
  const person = await (await records.openIdentity()).people.add(name, flags.role ?? [], principal);
  print(person, [`person:${person.name} was added with the roles ${person.roles.join(", ")}`]);
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

async function adoptLocal({ principal, openRecords, print }: Invocation, name: string): Promise<void> {
  await using records = await openRecords();
  const adopted = await (await records.openIdentity()).people.adopt(name, principal);
  print({ principal: adopted.principal.id, executions: adopted.executions }, [
    `${countOf(adopted.executions, "execution")} and all else of local now belong to ${adopted.principal.id}`,
    "Local clients act for this person from the next start; rules that name local still apply to them",
  ]);
}

async function resetPerson({ principal, terminal, openRecords }: Invocation, name: string): Promise<void> {
  await using records = await openRecords();
  await (await records.openIdentity()).people.reset(name, principal);
  printLine(terminal.stderr, `person:${name} is an operator; their tokens and sessions have ended`);
}
