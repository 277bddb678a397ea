/** MCP clients that people let in: each is an agent of its own, until its login ends. */

import { useState } from "preact/hooks";

import { endedSchema } from "../../../src/surfaces/admin/contract/people.ts";
import type { ClientsAnswer } from "../../../src/surfaces/admin/contract/people.ts";
import { useChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty, Problem } from "../../parts/frame.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";

type Client = ClientsAnswer["clients"][number];

interface ClientsProps extends Pick<PageProps, "api"> {
  readonly clients: readonly Client[];
  readonly reload: () => void;
}

const COLUMNS: readonly Column[] = [
  "Client",
  "Agent",
  "Person",
  "Scopes",
  ["Since", "num"],
  ["Login ends", "num"],
  ["Actions", "vh"],
];

export function Clients({ api, clients, reload }: ClientsProps) {
  const change = useChange(reload);
  const [ending, setEnding] = useState<Client>();
  const end = async ({ id }: Client): Promise<void> => {
    const path = `/api/clients/${encodeURIComponent(id)}`;
    await change.send(() => api.change(endedSchema, path, {}, "DELETE"));
    setEnding(undefined);
  };
  return (
    <section aria-labelledby="clients">
      <div class="h">
        <h2 id="clients">MCP clients</h2>
        <span class="muted small">let in by a person who logged in; each is an agent of its own</span>
      </div>
      {change.problem !== "" && <Problem message={change.problem} />}
      {clients.length === 0 ? (
        <Empty title="No client has logged in">
          <p>
            A client that supports OAuth opens a consent page of this gateway. It is listed here once a person agrees.
          </p>
        </Empty>
      ) : (
        <Table label="MCP clients" columns={COLUMNS}>
          {clients.map((client) => (
            <ClientRow key={client.id} client={client} onEnd={() => setEnding(client)} />
          ))}
        </Table>
      )}
      {ending && (
        <Confirm
          title="End this login?"
          action="End login"
          isSending={change.isSending}
          onConfirm={() => void end(ending)}
          onClose={() => setEnding(undefined)}
        >
          <p>
            <b class="strong">
              <Visible text={ending.client} />
            </b>{" "}
            can no longer act for <Visible text={ending.person} />. What it runs now is stopped. A new login needs the
            person.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function ClientRow({ client, onEnd }: { readonly client: Client; readonly onEnd: () => void }) {
  const now = useNow();
  return (
    <tr>
      <td class="first any">
        <Visible text={client.client} />
      </td>
      <td>
        <code>
          <Visible text={client.principal} />
        </code>
      </td>
      <td>
        <Visible text={client.person} />
      </td>
      <td>{client.scopes.join(", ")}</td>
      <td class="num" data-l="since">
        <Ago at={client.createdAt} now={now} />
      </td>
      <td class="num" data-l="ends">
        {new Date(client.expiresAt).toLocaleDateString()}
      </td>
      <td class="acts">
        <button class="btn small" type="button" onClick={onEnd}>
          End login
        </button>
      </td>
    </tr>
  );
}
