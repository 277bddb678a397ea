/** What happened: the records of the ledger, the newest first. */

import { useEffect, useState } from "preact/hooks";

import type { LedgerAnswer } from "../../../src/surfaces/admin/contract.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Head, Problem } from "../../parts/frame.tsx";
import { Pager } from "../../parts/list.tsx";
import { Command, Visible } from "../../parts/text.tsx";
import { formatTime } from "../../parts/time.tsx";

type LedgerRecord = LedgerAnswer["records"][number];

const PAGE = 100;

export function Page({ api }: PageProps) {
  const load = () => api.records({ limit: PAGE });
  const { value, error } = useAnswer(load, { key: "ledger", topics: ["executions", "approvals", "servers"] });
  const [older, setOlder] = useState<readonly LedgerRecord[]>([]);
  const [chosen, setChosen] = useState<LedgerRecord>();
  const newest = value?.records ?? [];
  const records = [...newest, ...older.filter(({ seq }) => seq < (newest.at(-1)?.seq ?? 0))];
  useEffect(() => setChosen((before) => before ?? records[0]), [records.length]);
  const showOlder = async (): Promise<void> => {
    const answer = await api.records({ limit: PAGE, before: records.at(-1)?.seq });
    setOlder((before) => [...before, ...answer.records]);
  };
  return (
    <>
      <Head title="Ledger" sub={records[0] ? `${records[0].seq} records` : ""} />
      <div class="content">
        {error && <Problem message={error.message} />}
        <section>
          <p class="soft">Check on the machine of the gateway that no record was changed, removed or added:</p>
          <Command text="glovebox audit verify" />
        </section>
        <section class="halves">
          <Records {...{ records, chosen, setChosen }} />
          {chosen && <Detail record={chosen} />}
        </section>
        {records.length > 0 && records.at(-1)?.seq !== 1 && (
          <Pager text={`${records.length} shown`} onOlder={showOlder} />
        )}
      </div>
    </>
  );
}

interface RecordsProps {
  readonly records: readonly LedgerRecord[];
  readonly chosen: LedgerRecord | undefined;
  readonly setChosen: (record: LedgerRecord) => void;
}

function Records({ records, chosen, setChosen }: RecordsProps) {
  return (
    <table class="t stackable" aria-label="Records">
      <thead>
        <tr>
          <th class="num">No.</th>
          <th>Time</th>
          <th>Action</th>
          <th>Subject</th>
          <th>Actor</th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <tr key={record.seq} class={record.seq === chosen?.seq ? "selected" : ""}>
            <td class="num drop">{record.seq}</td>
            <td class="second nowrap muted">
              <time dateTime={new Date(record.at).toISOString()} title={formatTime(record.at)}>
                {new Date(record.at).toLocaleTimeString()}
              </time>
            </td>
            <td class="first">
              <button class="row-link" type="button" onClick={() => setChosen(record)}>
                <code>{record.action}</code>
              </button>
            </td>
            <td>
              <code>
                <Visible text={record.subject} />
              </code>
            </td>
            <td>{record.actor}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Detail({ record }: { readonly record: LedgerRecord }) {
  return (
    <aside class="side" aria-label={`Record ${record.seq}`}>
      <div class="h">
        <h2>Record {record.seq}</h2>
        <span class="muted small">{formatTime(record.at)}</span>
      </div>
      <pre class="block" tabIndex={0} aria-label="Record as JSON">
        {toPlainJson(record, 2)}
      </pre>
    </aside>
  );
}
