/** The list of records. The time has its day where the day changes. */

import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { formatTime } from "../../parts/time.tsx";
import type { LedgerRecord } from "./page.tsx";
import { count } from "./proof.tsx";

interface RecordsProps {
  readonly records: readonly LedgerRecord[];
  readonly chosen: number | undefined;
  readonly onChoose: (seq: number) => void;
}

const COLUMNS: readonly Column[] = [["No.", "num"], "Time", "Action", "Subject", "Detail", "Actor"];

export function Records({ records, chosen, onChoose }: RecordsProps) {
  return (
    <Table label="Records" columns={COLUMNS} isInside>
      {records.map((record) => (
        <tr key={record.seq} class={record.seq === chosen ? "selected" : ""}>
          <td class="num drop">{count(record.seq)}</td>
          <td class="second nowrap muted">
            <time dateTime={new Date(record.at).toISOString()} title={formatTime(record.at)}>
              {formatMoment(record.at)}
            </time>
          </td>
          <td class="first short">
            <button
              class="row-link"
              type="button"
              aria-current={record.seq === chosen}
              onClick={() => onChoose(record.seq)}
            >
              <code>{record.action}</code>
            </button>
          </td>
          <td class="soft any">
            <code>
              <Visible text={shorten(record.subject)} />
            </code>
          </td>
          <td class="soft">
            <Visible text={summarize(record.detail)} />
          </td>
          <td>
            <Visible text={record.actor} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function formatMoment(at: number): string {
  const time = new Date(at).toLocaleTimeString(undefined, { hour12: false });
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return isToday ? time : `${new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short" })} ${time}`;
}

/** Ids are shortened; the record has the whole one. */
function shorten(subject: string): string {
  return subject.replace(/^((?:ex|ap|ir)_[0-9a-f]{8})[0-9a-f]{16}$/, "$1");
}

const TOLD = ["outcome", "state", "decision", "verdict", "code", "rule", "purpose", "version", "reason", "tool", "ms"];
const MAX_CHARS = 60;

/** What decides how a record reads; all of it is beside the list. */
function summarize(detail: Readonly<Record<string, unknown>>): string {
  const told = TOLD.flatMap((name) => {
    const value = detail[name];
    if (value === undefined || value === null) return [];
    const text = typeof value === "string" ? value : toPlainJson(value);
    return [name === "ms" ? `${text} ms` : text];
  });
  const text = told.slice(0, 3).join(", ");
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}
