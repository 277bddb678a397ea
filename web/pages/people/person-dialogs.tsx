/** The dialogs about one person: add, roles, invite, log out, remove. */

import { useState } from "preact/hooks";

import { endedSchema, personSchema, removedSchema } from "../../../src/surfaces/admin/contract/people.ts";
import type { InviteAnswer, PeopleAnswer } from "../../../src/surfaces/admin/contract/people.ts";
import type { SentChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { Choices, TextField } from "../../parts/form.tsx";
import { Problem } from "../../parts/frame.tsx";
import { Command } from "../../parts/text.tsx";
import { formatTime } from "../../parts/time.tsx";

type Person = PeopleAnswer["people"][number];

export type OpenDialog =
  | { readonly kind: "add" }
  | { readonly kind: "roles" | "sessions" | "remove"; readonly person: Person }
  | { readonly kind: "invited"; readonly name: string; readonly invite: InviteAnswer };

const ROLES = [
  ["agent", "lets MCP clients act for this person"],
  ["reviewer", "sees approvals and decides them"],
  ["operator", "does everything: servers, secrets, people, rules that last"],
] as const;

export function pathOf(name: string): string {
  return `/api/people/${encodeURIComponent(name)}`;
}

interface OpenedProps extends Pick<PageProps, "api"> {
  readonly open: OpenDialog;
  readonly setOpen: (next: OpenDialog | undefined) => void;
  readonly setDone: (text: string) => void;
  readonly change: SentChange;
}

export function Opened({ api, open, setOpen, setDone, change }: OpenedProps) {
  const close = (): void => setOpen(undefined);
  const finish = (text: string): void => {
    close();
    setDone(text);
  };
  const add = async (name: string, roles: readonly string[]): Promise<void> => {
    const added = await change.send(() => api.change(personSchema, "/api/people", { name, roles }));
    if (!added) return;
    finish(`${added.name} was added.`);
    if (added.invite) setOpen({ kind: "invited", name: added.name, invite: added.invite });
  };
  const setRoles = async (name: string, roles: readonly string[]): Promise<void> => {
    const path = `${pathOf(name)}/roles`;
    if (await change.send(() => api.change(personSchema, path, { roles }, "PUT")))
      finish(`${name} is now ${roles.join(" and ")}. It holds for requests from now on.`);
  };
  const end = async (name: string): Promise<void> => {
    const path = `${pathOf(name)}/sessions`;
    if (await change.send(() => api.change(endedSchema, path, {}, "DELETE")))
      finish(`${name} is logged out everywhere.`);
  };
  const remove = async (name: string): Promise<void> => {
    if (await change.send(() => api.change(removedSchema, pathOf(name), {}, "DELETE"))) finish(`${name} was removed.`);
  };
  const common = { change, onClose: close };
  switch (open.kind) {
    case "invited":
      return <Invited {...open} onClose={close} />;
    case "add":
      return <PersonForm {...common} onSend={add} />;
    case "roles":
      return <PersonForm {...common} person={open.person} onSend={setRoles} />;
    case "sessions":
      return <Ending {...common} kind="sessions" name={open.person.name} onConfirm={end} />;
    case "remove":
      return <Ending {...common} kind="remove" name={open.person.name} onConfirm={remove} />;
    default:
      return open satisfies never;
  }
}

interface PersonFormProps {
  /** Absent for a new one. */
  readonly person?: Person;
  readonly change: SentChange;
  readonly onClose: () => void;
  readonly onSend: (name: string, roles: readonly string[]) => Promise<void>;
}

function PersonForm({ person, change, onClose, onSend }: PersonFormProps) {
  const [name, setName] = useState(person?.name ?? "");
  const [roles, setRoles] = useState<readonly string[]>(person?.roles ?? ["agent"]);
  const action = person ? "Set roles" : "Add person";
  return (
    <Dialog
      title={person ? `Roles of ${person.name}` : "Add a person"}
      onClose={onClose}
      onSubmit={() => void onSend(name, roles)}
      footer={
        <>
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn primary" type="submit" disabled={change.isSending || roles.length === 0}>
            {action}
          </button>
        </>
      }
    >
      {change.problem !== "" && <Problem message={change.problem} />}
      {!person && <TextField label="Name" value={name} onText={setName} isRequired maxLength={64} />}
      <Choices label="Roles" options={ROLES} chosen={roles} onChoose={setRoles} />
      <p class="small muted">No role contains another. A person who does all three has all three.</p>
    </Dialog>
  );
}

function Invited(props: { readonly name: string; readonly invite: InviteAnswer; readonly onClose: () => void }) {
  const { name, invite, onClose } = props;
  return (
    <Dialog
      title={`Invite for ${name}`}
      onClose={onClose}
      footer={
        <button class="btn primary" type="button" onClick={onClose}>
          Done
        </button>
      }
    >
      <p>Send this link to {name} over a channel that you trust. It sets a password once and is not shown again.</p>
      <Command text={invite.url} />
      <p class="small muted">It works until {formatTime(invite.expiresAt)}. A new invite ends this one.</p>
    </Dialog>
  );
}

interface EndingProps {
  readonly kind: "sessions" | "remove";
  readonly name: string;
  readonly change: SentChange;
  readonly onClose: () => void;
  readonly onConfirm: (name: string) => Promise<void>;
}

function Ending({ kind, name, change, onClose, onConfirm }: EndingProps) {
  const isRemoval = kind === "remove";
  return (
    <Confirm
      title={isRemoval ? `Remove ${name}?` : `Log out ${name} everywhere?`}
      action={isRemoval ? "Remove person" : "Log out"}
      isSending={change.isSending}
      onConfirm={() => void onConfirm(name)}
      onClose={onClose}
    >
      {change.problem !== "" && <Problem message={change.problem} />}
      <p>
        {isRemoval
          ? "Their tokens are revoked, their sessions end, and what their agents run now is stopped. Records stay, and the name cannot be given to another person by accident."
          : "Every browser of this person needs a new login. Tokens stay valid."}
      </p>
    </Confirm>
  );
}
