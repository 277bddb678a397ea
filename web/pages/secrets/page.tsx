/** Secrets: set, replace and remove them, and see what uses them. No answer of the gateway contains a value. */

import { useState } from "preact/hooks";

import { secretChangedSchema, secretsSchema } from "../../../src/surfaces/admin/contract/secrets.ts";
import type { SecretsAnswer } from "../../../src/surfaces/admin/contract/secrets.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { useChange } from "../../live/use-change.ts";
import type { SentChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Done, Loading } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Command } from "../../parts/text.tsx";
import { BindHosts } from "./bind-hosts.tsx";
import { SecretForm } from "./secret-form.tsx";
import { SecretRow } from "./secret-row.tsx";

export type ListedSecret = SecretsAnswer["secrets"][number];

type Open = { readonly kind: "add" } | { readonly kind: "set" | "remove" | "bind"; readonly secret: ListedSecret };

const COLUMNS: readonly Column[] = [
  "Secret",
  "State",
  "Used by",
  "Programs may send it to",
  ["Last used", "num"],
  ["Actions", "vh"],
];

export function Page({ api }: PageProps) {
  const { value, error, reload } = useAnswer(() => api.read(secretsSchema, "/api/secrets"), {
    key: "secrets",
    topics: ["servers"],
  });
  const change = useChange(reload);
  const [open, setOpen] = useState<Open>();
  const [done, setDone] = useState("");
  const close = (): void => setOpen(undefined);
  const show = (next: Open): void => {
    change.forget();
    setDone("");
    setOpen(next);
  };
  const finish = (text: string): void => {
    close();
    setDone(text);
  };
  const send = async (name: string, text: string, version: number): Promise<void> => {
    const path = `/api/secrets/${encodeURIComponent(name)}`;
    if (await change.send(() => api.change(secretChangedSchema, path, { value: text, version }, "PUT")))
      finish(`${name} is set. Upstreams that use it restart within two seconds.`);
  };
  const remove = async ({ name, version = 0 }: ListedSecret): Promise<void> => {
    const path = `/api/secrets/${encodeURIComponent(name)}?version=${version}`;
    if (await change.send(() => api.change(secretChangedSchema, path, {}, "DELETE")))
      finish(`${name} is removed. Upstreams that use it restart, and need it to start.`);
  };
  // Missing ones first: something waits for them.
  const secrets = (value?.secrets ?? []).toSorted((a, b) => Math.min(a.version ?? 0, 1) - Math.min(b.version ?? 0, 1));
  return (
    <>
      <Head title="Secrets" sub={describe(secrets)}>
        <button class="btn" type="button" onClick={() => show({ kind: "add" })}>
          Set a secret
        </button>
      </Head>
      <div class="content">
        {error && <Problem message={error.message} />}
        {done !== "" && <Done>{done}</Done>}
        {!value && !error && <Loading what="secrets" />}
        {value && secrets.length === 0 && <NoSecrets />}
        {secrets.length > 0 && (
          <Table label="Secrets" columns={COLUMNS}>
            {secrets.map((secret) => (
              <SecretRow key={secret.name} secret={secret} onOpen={(kind) => show({ kind, secret })} />
            ))}
          </Table>
        )}
        <p class="small muted below">
          Values are sealed with the key of the vault. No page, command, tool or record returns one.
        </p>
      </div>
      {open && <Opened {...{ open, change, onSend: send, onRemove: remove }} file={value?.file} onClose={close} />}
    </>
  );
}

interface OpenedProps {
  readonly open: Open;
  readonly change: SentChange;
  readonly file: string | undefined;
  readonly onSend: (name: string, value: string, version: number) => Promise<void>;
  readonly onRemove: (secret: ListedSecret) => Promise<void>;
  readonly onClose: () => void;
}

function Opened({ open, change, file, onSend, onRemove, onClose }: OpenedProps) {
  switch (open.kind) {
    case "add":
      return <SecretForm {...{ change, onClose, onSend }} />;
    case "set":
      return <SecretForm {...{ change, onClose, onSend }} secret={open.secret} />;
    case "bind":
      return <BindHosts name={open.secret.name} file={file} onClose={onClose} />;
    case "remove":
      return (
        <Confirm
          title={`Remove ${open.secret.name}?`}
          action="Remove secret"
          isSending={change.isSending}
          onConfirm={() => void onRemove(open.secret)}
          onClose={onClose}
        >
          {change.problem !== "" && <Problem message={change.problem} />}
          <p>{describeRemoval(open.secret)} The value cannot be brought back.</p>
        </Confirm>
      );
    default:
      return open satisfies never;
  }
}

function describe(secrets: readonly ListedSecret[]): string {
  const missing = secrets.filter(({ version }) => version === undefined).length;
  const set = `${secrets.length - missing} set`;
  return missing === 0 ? set : `${set}, ${missing} missing`;
}

function describeRemoval({ usedBy }: ListedSecret): string {
  if (usedBy.length === 0) return "No setting refers to it.";
  return `What refers to it fails from then on: ${usedBy.join(", ")}.`;
}

function NoSecrets() {
  return (
    <Empty title="No secret is set">
      <p>
        Set one here, and write <code>{"${secret:NAME}"}</code> in the headers or the environment of a server. From a
        file, in a terminal:
      </p>
      <Command text="glovebox secrets set NAME < file" />
    </Empty>
  );
}
