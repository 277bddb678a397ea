/** Requests to cancel executions. A later request removes those of executions that have ended. */

import { parseExecutionId } from "../../../domain/index.ts";
import type { CancellationRow, CancellationStore } from "../../executions.ts";

import type { Connection } from "../connection.ts";
import { idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";

const IS_OPEN = "(state IS NULL OR state = 'paused')";
const ASK = `INSERT INTO cancellations (execution, asked_by, asked_at)
  SELECT id, ?, ? FROM executions WHERE id = ? AND ${IS_OPEN} ON CONFLICT DO NOTHING`;
const LIST = `SELECT execution, asked_by, asked_at FROM cancellations JOIN executions ON id = execution
  WHERE ${IS_OPEN} ORDER BY asked_at, execution`;
const FORGET = `DELETE FROM cancellations WHERE execution NOT IN (SELECT id FROM executions WHERE ${IS_OPEN})`;

export function createCancellations({ database, read, write }: Connection): CancellationStore {
  const insert = database.prepare(ASK);
  const select = database.prepare("SELECT 1 FROM cancellations WHERE execution = ?");
  const forget = database.prepare(FORGET);
  const selectAll = database.prepare(LIST);

  return {
    request: ({ execution, askedBy, askedAt }) =>
      write(() => {
        forget.run();
        insert.run(askedBy, askedAt, execution);
        return select.get(execution) !== undefined;
      }),
    list: () => read(() => selectAll.all().map(toRow)),
  };
}

function toRow(row: Row): CancellationRow {
  return {
    execution: idOf(row, "execution", parseExecutionId),
    askedBy: textOf(row, "asked_by"),
    askedAt: integerOf(row, "asked_at"),
  };
}
