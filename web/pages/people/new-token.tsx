/** The form for a token: what a finder of it could do changes with every choice, before it exists. */

import { useState } from "preact/hooks";

import { describeReach } from "../../../src/identity/describe-reach.ts";
import { createdTokenSchema } from "../../../src/surfaces/admin/contract/people.ts";
import type { CreatedTokenAnswer } from "../../../src/surfaces/admin/contract/people.ts";
import { useChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Choices, SelectField, TextField, splitWords } from "../../parts/form.tsx";
import { Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Command, Visible } from "../../parts/text.tsx";

interface NewTokenProps extends Pick<PageProps, "api"> {
  readonly people: readonly string[];
  readonly servers: readonly string[];
  readonly reload: () => void;
  readonly onClose: () => void;
}

const SCOPES = [
  ["execute", "run programs that call tools"],
  ["execute:read", "run programs that only read"],
  ["search", "find and describe tools"],
  ["ledger:read", "read the ledger (for services)"],
  ["metrics:read", "read the metrics (for services)"],
  ["approvals:read", "read approvals with their arguments (for services)"],
] as const;

const DAY_MS = 86_400_000;
const ENDS = [
  ["1", "in a day"],
  ["7", "in 7 days"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["", "never"],
] as const;

/** What the form says; empty texts are left out of the request. */
interface Draft {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly servers: readonly string[];
  readonly tools: string;
  readonly person: string;
  readonly perMinute: string;
  readonly days: string;
}

const EMPTY: Draft = {
  name: "",
  scopes: ["execute", "search"],
  servers: [],
  tools: "",
  person: "",
  perMinute: "",
  days: "30",
};

function toRequest({ name, scopes, servers, tools, person, perMinute, days }: Draft) {
  const patterns = splitWords(tools);
  return {
    name,
    scopes,
    ...(servers.length > 0 && { servers }),
    ...(patterns && { tools: patterns }),
    ...(person !== "" && { person }),
    ...(perMinute !== "" && { executionsPerMinute: Number(perMinute) }),
    ...(days !== "" && { expiresAt: Date.now() + Number(days) * DAY_MS }),
  };
}

export function NewToken({ api, people, servers, reload, onClose }: NewTokenProps) {
  const change = useChange(reload);
  const [draft, setDraft] = useState(EMPTY);
  const [created, setCreated] = useState<CreatedTokenAnswer>();
  const set = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const request = toRequest(draft);
  const create = async (): Promise<void> =>
    setCreated(await change.send(() => api.change(createdTokenSchema, "/api/tokens", request)));
  if (created) return <Created created={created} onClose={onClose} />;
  return (
    <Dialog
      title="Create a token"
      onClose={onClose}
      onSubmit={() => void create()}
      footer={
        <>
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn primary" type="submit" disabled={change.isSending || draft.scopes.length === 0}>
            Create token
          </button>
        </>
      }
    >
      {change.problem !== "" && <Problem message={change.problem} />}
      <Fields {...{ draft, set, people, servers }} />
      <Reach {...describeReach(request)} />
    </Dialog>
  );
}

type FieldsProps = Pick<NewTokenProps, "people" | "servers"> & {
  readonly draft: Draft;
  readonly set: (part: Partial<Draft>) => void;
};

function Fields({ draft, set, people, servers }: FieldsProps) {
  return (
    <>
      <TextField label="Name" value={draft.name} onText={(name) => set({ name })} isRequired isCode maxLength={64} />
      <Choices label="It may" options={SCOPES} chosen={draft.scopes} onChoose={(scopes) => set({ scopes })} />
      {servers.length > 0 && (
        <Choices
          label="Only these servers (none checked: every server)"
          options={servers.map((name) => [name, ""])}
          chosen={draft.servers}
          onChoose={(chosen) => set({ servers: chosen })}
        />
      )}
      <TextField
        label="Only tools that match"
        hint="Patterns with commas between them, such as github.*, *.list*. Empty: every tool."
        value={draft.tools}
        onText={(tools) => set({ tools })}
        isCode
      />
      <div class="halves tight">
        <SelectField label="It ends" value={draft.days} options={ENDS} onChoose={(days) => set({ days })} />
        <SelectField
          label="Person behind it"
          value={draft.person}
          options={[["", "you"], ...people.map((name) => [name, name] as const)]}
          onChoose={(person) => set({ person })}
        />
      </div>
      <TextField
        label="Most executions in a minute"
        hint="Empty: as the quotas say."
        isNumber
        value={draft.perMinute}
        onText={(perMinute) => set({ perMinute })}
      />
    </>
  );
}

function Reach({ until, can }: { readonly until: string; readonly can: readonly string[] }) {
  return (
    <div class="note wait" aria-live="polite">
      <Icon name="warn" />
      <div>
        <b class="strong">Anyone who finds it can, {until}:</b>
        <ul class="plain-list">
          {can.length === 0 && <li>do nothing</li>}
          {can.map((one) => (
            <li key={one}>
              <Visible text={one} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Created({ created, onClose }: { readonly created: CreatedTokenAnswer; readonly onClose: () => void }) {
  const { id, name, token, reach } = created;
  return (
    <Dialog
      title={`token:${name}`}
      onClose={onClose}
      footer={
        <button class="btn primary" type="button" onClick={onClose}>
          I have stored it
        </button>
      }
    >
      <p>Copy it now. It is not shown again, and Glovebox keeps only a digest.</p>
      <Command text={token} />
      <Reach {...reach} />
      <p class="small muted">If it gets lost or found: revoke it here, or in a terminal.</p>
      <Command text={`glovebox tokens revoke ${id}`} />
    </Dialog>
  );
}
