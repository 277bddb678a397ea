/** People: add, invite, change roles, end sessions, remove. */

import { useState } from "preact/hooks";

import { inviteSchema } from "../../../src/surfaces/admin/contract/people.ts";
import type { PeopleAnswer } from "../../../src/surfaces/admin/contract/people.ts";
import { useChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Problem } from "../../parts/frame.tsx";
import { Done } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Command, Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";
import { Opened, pathOf } from "./person-dialogs.tsx";
import type { OpenDialog } from "./person-dialogs.tsx";

type Person = PeopleAnswer["people"][number];

interface PeopleProps extends Pick<PageProps, "api"> {
  readonly people: readonly Person[];
  /** False where people do not log in with a password, so that an invite has no use. */
  readonly hasPasswords: boolean;
  readonly reload: () => void;
}

export function People({ api, people, hasPasswords, reload }: PeopleProps) {
  const change = useChange(reload);
  const [open, setOpen] = useState<OpenDialog>();
  const [done, setDone] = useState("");
  const show = (next: OpenDialog): void => {
    change.forget();
    setDone("");
    setOpen(next);
  };
  const invite = async (name: string): Promise<void> => {
    setDone("");
    const made = await change.send(() => api.change(inviteSchema, `${pathOf(name)}/invite`));
    if (made) setOpen({ kind: "invited", name, invite: made });
  };
  return (
    <section aria-labelledby="people">
      <div class="h">
        <h2 id="people">People</h2>
        <span class="muted small">{people.length}</span>
        <span class="end">
          <button class="btn" type="button" onClick={() => show({ kind: "add" })}>
            Add a person
          </button>
        </span>
      </div>
      {change.problem !== "" && !open && <Problem message={change.problem} />}
      {done !== "" && <Done>{done}</Done>}
      {people.length === 0 ? (
        <Empty title="Only you, as the user of this machine">
          <p>Add people before this gateway is reachable from elsewhere. The same from a terminal:</p>
          <Command text="glovebox people add NAME --role operator" />
        </Empty>
      ) : (
        <Table label="People" columns={COLUMNS}>
          {people.map((person) => (
            <PersonRow
              key={person.name}
              {...{ person, hasPasswords }}
              onOpen={(kind) => show({ kind, person })}
              onInvite={() => void invite(person.name)}
            />
          ))}
        </Table>
      )}
      {open && <Opened {...{ api, open, setOpen, setDone, change }} />}
    </section>
  );
}

const COLUMNS: readonly Column[] = ["Name", "Roles", "Logs in", ["Added", "num"], ["Actions", "vh"]];

interface PersonRowProps {
  readonly person: Person;
  readonly hasPasswords: boolean;
  readonly onOpen: (kind: "roles" | "sessions" | "remove") => void;
  readonly onInvite: () => void;
}

function PersonRow({ person, hasPasswords, onOpen, onInvite }: PersonRowProps) {
  const now = useNow();
  const { name, roles, issuer, createdAt, createdBy } = person;
  return (
    <tr>
      <td class="first strong any">
        <Visible text={name} />
      </td>
      <td>
        <span class="row tight">
          {roles.map((role) => (
            <span key={role} class="tag line">
              {role}
            </span>
          ))}
        </span>
      </td>
      <td class="soft any">
        <Visible text={issuer === undefined ? "here" : `at ${issuer}`} />
      </td>
      <td class="num" data-l="added" title={`by ${createdBy}`}>
        <Ago at={createdAt} now={now} />
      </td>
      <td class="acts">
        {issuer === undefined && <Act name="Roles" of={name} onClick={() => onOpen("roles")} />}
        {issuer === undefined && hasPasswords && <Act name="New invite" of={name} onClick={onInvite} />}
        <Act name="Log out" of={name} onClick={() => onOpen("sessions")} />
        <Act name="Remove" of={name} onClick={() => onOpen("remove")} />
      </td>
    </tr>
  );
}

function Act(props: { readonly name: string; readonly of: string; readonly onClick: () => void }) {
  return (
    <button class="btn small" type="button" onClick={props.onClick}>
      {props.name}
      <span class="vh"> {props.of}</span>
    </button>
  );
}
