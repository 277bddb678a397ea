/**
 * Seals results that older versions stored in clear, in small transactions, and removes their former content from the file
 * and its log. A killed process loses nothing: the next one continues.
 */

import type { DatabaseSync } from "node:sqlite";

import { parseExecutionId, parseResultId } from "../../domain/index.ts";
import { bytes, integer, parsed, readColumn, text } from "../row.ts";
import type { Store } from "../store.ts";

import type { ColumnSeal } from "./column-seal.ts";
import { eraseFreed } from "./connection.ts";
import type { Connection } from "./connection.ts";

/** One transaction seals about this much, and one row at least: a few milliseconds of the thread. */
const STEP_BYTES = 128 * 1024;
const STEP_ROWS = 64;

const CLEAR_RESULTS = "SELECT id, result FROM executions WHERE result IS NOT NULL LIMIT 1";
const CLEAR_KEPT = "SELECT id, shape, body FROM results WHERE sealed_shape IS NULL LIMIT 1";
/** In `meta` while the file may contain former values in clear. */
const MARK = "INSERT INTO meta VALUES ('sealing', 'due') ON CONFLICT DO NOTHING";
const UNMARK = "DELETE FROM meta WHERE key = 'sealing'";

export function createSealOlder(connection: Connection, seal: ColumnSeal): Store["sealOlder"] {
  const { database, read, commit } = connection;
  const isMarked = database.prepare("SELECT 1 FROM meta WHERE key = 'sealing'");
  const isClear = database.prepare(`SELECT EXISTS (${CLEAR_RESULTS}) OR EXISTS (${CLEAR_KEPT}) AS found`);
  const step = prepareStep(database, seal);
  return async (rebuildBytes) => {
    const hasClear = await read(() => readColumn(isClear.get(), "found", integer) === 1);
    if (hasClear) {
      await commit(() => eraseFreed(database, step));
      return "results";
    }
    if (!(await read(() => isMarked.get()))) return "nothing";
    return (await rebuild(connection, rebuildBytes)) ? "nothing" : "file";
  };
}

/** Returns a function that seals some rows. Call it in a transaction. */
function prepareStep(database: DatabaseSync, seal: ColumnSeal): () => void {
  const selectResult = database.prepare(CLEAR_RESULTS);
  const selectKept = database.prepare(CLEAR_KEPT);
  const sealResult = database.prepare("UPDATE executions SET result = NULL, sealed_result = ? WHERE id = ?");
  const sealKept = database.prepare("UPDATE results SET shape = '', sealed_shape = ?, body = ? WHERE id = ?");
  const mark = database.prepare(MARK);
  const sealOne = (): number | undefined => {
    const execution = selectResult.get();
    if (execution) {
      const [id, result] = [
        readColumn(execution, "id", parsed(parseExecutionId)),
        readColumn(execution, "result", text),
      ];
      sealResult.run(seal.closeResult(id, result), id);
      return result.length;
    }
    const kept = selectKept.get();
    if (!kept) return undefined;
    const [id, body] = [readColumn(kept, "id", parsed(parseResultId)), readColumn(kept, "body", bytes)];
    sealKept.run(seal.closeShape(id, readColumn(kept, "shape", text)), seal.closeBody(id, body), id);
    return body.byteLength;
  };
  return () => {
    mark.run();
    let sealed = 0;
    for (let row = 0; row < STEP_ROWS && sealed < STEP_BYTES; row++) {
      const size = sealOne();
      if (size === undefined) return;
      sealed += size;
    }
  };
}

/**
 * Pages that were freed or rewritten earlier still contain former values, wherever they are used now: only a copy of all
 * live rows does not. Returns false if the file is too large for that, or while another connection uses the log.
 */
async function rebuild({ database, read, write, flush }: Connection, rebuildBytes: number): Promise<boolean> {
  await flush();
  const size = await read(() => readColumn(database.prepare(SIZE).get(), "size", integer));
  const isRebuilt = size <= rebuildBytes;
  const isTruncated = await read(() => {
    if (isRebuilt) database.exec("VACUUM");
    return readColumn(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get(), "busy", integer) === 0;
  });
  if (!isRebuilt || !isTruncated) return false;
  await write(() => database.exec(UNMARK));
  return true;
}

const SIZE = "SELECT page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()";
