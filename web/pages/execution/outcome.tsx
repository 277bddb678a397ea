/** How an execution ended: its error, its value as a table or as JSON, and its logs. */

import { useMemo, useState } from "preact/hooks";

import type { ExecutionAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import { toPlainJson, toVisible } from "../../../src/text/escape-hidden.ts";
import { Problem } from "../../parts/frame.tsx";
import { CopyButton, Visible, saveFile } from "../../parts/text.tsx";
import { formatBytes, formatDuration } from "../../parts/time.tsx";

const SHOWN_CHARS = 60_000;
const SHOWN_ROWS = 100;
const MAX_COLUMNS = 12;
const SHOWN_LOGS = 500;

/** The cause first, then the next step, then the place. */
export function Failure({ details: { result } }: { readonly details: ExecutionAnswer }) {
  const { error } = result;
  if (!error) return null;
  return (
    <section aria-label="Error">
      <Problem message={<Visible text={`${error.message} (${error.code})`} />} />
      {error.hint !== undefined && (
        <p class="soft">
          <Visible text={error.hint} />
        </p>
      )}
      {error.frame !== undefined && (
        <pre class="block" tabIndex={0} aria-label="Place of the error">
          <Visible text={error.frame} />
        </pre>
      )}
    </section>
  );
}

export function Outcome({ details: { id, result } }: { readonly details: ExecutionAnswer }) {
  const { value, truncated } = result;
  return (
    <>
      {truncated && (
        <section aria-labelledby="kept">
          <div class="h">
            <h2 id="kept">Kept result</h2>
            <span class="muted small">{formatBytes(truncated.bytes)}, read by its agent in parts</span>
          </div>
          <p>
            <code>{truncated.handle}</code> <CopyButton text={truncated.handle} label="Copy the handle" />
          </p>
          <pre class="block" tabIndex={0} aria-label="Shape">
            <Visible text={truncated.shape} />
          </pre>
        </section>
      )}
      {value !== undefined && <Value value={value} name={`${id}.json`} />}
    </>
  );
}

type Row = Readonly<Record<string, unknown>>;

/** Rows with the same few names read better as a table. */
function toTable(value: unknown): { readonly columns: readonly string[]; readonly rows: readonly Row[] } | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const rows: Row[] = [];
  for (const item of value.slice(0, SHOWN_ROWS)) {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return undefined;
    rows.push(item);
  }
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return columns.length > 0 && columns.length <= MAX_COLUMNS ? { columns, rows } : undefined;
}

function Value({ value, name }: { readonly value: unknown; readonly name: string }) {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  const whole = (): string => toPlainJson(value, 2);
  const table = useMemo(() => toTable(value), [value]);
  const [isTable, setTable] = useState(true);
  const isLong = text.length > SHOWN_CHARS;
  const shown = table && isTable ? table : undefined;
  const count = Array.isArray(value) ? `${value.length} items, ` : "";
  return (
    <section aria-labelledby="value">
      <div class="panel">
        <div class="panel-h wrap">
          <h2 id="value">Result</h2>
          <span class="muted small">
            {count}
            {formatBytes(text.length)}
          </span>
          <span class="end">
            {table && (
              <span class="seg" role="group" aria-label="View">
                <button type="button" aria-pressed={isTable} onClick={() => setTable(true)}>
                  Table
                </button>
                <button type="button" aria-pressed={!isTable} onClick={() => setTable(false)}>
                  JSON
                </button>
              </span>
            )}
            <CopyButton text={whole} label="Copy the result" />
            <button class="btn quiet small" type="button" onClick={() => saveFile(name, whole())}>
              Save
            </button>
          </span>
        </div>
        {shown ? (
          <ValueTable {...shown} />
        ) : (
          <pre class="plain value" tabIndex={0} aria-label="Value">
            {toVisible(isLong ? `${text.slice(0, SHOWN_CHARS)}…` : text)}
          </pre>
        )}
        {shown && Array.isArray(value) && value.length > SHOWN_ROWS && (
          <div class="panel-f">The first {SHOWN_ROWS} items are shown; Copy and Save have all.</div>
        )}
        {!shown && isLong && (
          <div class="panel-f">The first {formatBytes(SHOWN_CHARS)} are shown; Copy and Save have all.</div>
        )}
      </div>
    </section>
  );
}

function ValueTable({ columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly Row[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Value">
      <table class="t">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} class={isNumeric(rows, column) ? "num" : ""}>
                <Visible text={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column} class={isNumeric(rows, column) ? "num" : ""}>
                  <Cell value={row[column]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function isNumeric(rows: readonly Row[], column: string): boolean {
  return rows.every((row) => typeof row[column] === "number" || row[column] === undefined);
}

const CELL_CHARS = 200;

function Cell({ value }: { readonly value: unknown }) {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return <Visible text={text.length <= CELL_CHARS ? text : `${text.slice(0, CELL_CHARS)}… (see JSON)`} />;
}

export function Logs({ details: { result } }: { readonly details: ExecutionAnswer }) {
  const [isWhole, setWhole] = useState(false);
  const { logs } = result;
  if (logs.length === 0) return null;
  const shown = isWhole ? logs : logs.slice(0, SHOWN_LOGS);
  return (
    <section>
      <div class="panel">
        <div class="panel-h">
          <h2>Logs</h2>
          <span class="muted small">{logs.length === 1 ? "1 line" : `${logs.length} lines`}</span>
        </div>
        <div class="panel-b scroll" tabIndex={0} role="region" aria-label="Logs">
          <ol class="log">
            {shown.map(({ level, text, atMs }, index) => (
              <li key={index} class={level}>
                <time>{formatDuration(atMs)}</time>
                <span class="lv">{level}</span>
                <span>
                  <Visible text={text} />
                </span>
              </li>
            ))}
          </ol>
        </div>
        {shown.length < logs.length && (
          <div class="panel-f">
            <button class="btn small" type="button" onClick={() => setWhole(true)}>
              Show all {logs.length}
            </button>
          </div>
        )}
      </div>
    </section>
  );
}
