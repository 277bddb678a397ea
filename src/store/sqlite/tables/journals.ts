/** The journals of executions: pieces in order, kept for some time after the execution has ended. */

import { GloveboxError, parseExecutionId } from "../../../domain/index.ts";
import type { JournalStore } from "../../executions.ts";

import type { Connection } from "../connection.ts";
import { bytesOf, idOf, integerOf } from "../row.ts";
import { isTaken } from "../to-store-error.ts";

/** Journals of ended executions that are too old, or exceed the total size together with newer ones. */
const DROPPABLE = `SELECT execution FROM (
    SELECT execution, ended_at, sum(bytes) OVER (ORDER BY ended_at DESC, execution DESC) AS upto FROM (
      SELECT journals.execution, executions.ended_at, sum(length(sealed)) AS bytes
      FROM journals JOIN executions ON executions.id = journals.execution
      WHERE executions.state IS NOT NULL AND executions.state <> 'paused'
      GROUP BY journals.execution))
  WHERE ended_at < ? OR upto > ?`;

export const INSERT_PIECE = "INSERT INTO journals VALUES (?, ?, ?)";

export function createJournals({ database, read, write, commit }: Connection): JournalStore {
  const insert = database.prepare(INSERT_PIECE);
  const select = database.prepare("SELECT * FROM journals WHERE execution = ? ORDER BY piece");
  const droppable = database.prepare(DROPPABLE);
  const remove = database.prepare("DELETE FROM journals WHERE execution = ?");

  return {
    append: async (pieces, isFlushed = true) => {
      try {
        await (isFlushed ? write : commit)(() => {
          for (const { execution, piece, sealed } of pieces()) insert.run(execution, piece, sealed);
        });
      } catch (thrown) {
        if (!isTaken(thrown)) throw thrown;
        throw new GloveboxError("REQUEST_CONFLICT", "Another process is running this execution");
      }
    },
    read: (execution) =>
      read(() =>
        select.all(execution).map((row) => ({
          execution: idOf(row, "execution", parseExecutionId),
          piece: integerOf(row, "piece"),
          sealed: bytesOf(row, "sealed"),
        })),
      ),
    drop: ({ endedBefore, totalBytes }) =>
      write(() => {
        const gone = droppable.all(endedBefore, totalBytes);
        for (const row of gone) remove.run(idOf(row, "execution", parseExecutionId));
        return gone.length;
      }),
  };
}
