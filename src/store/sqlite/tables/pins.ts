/** Accepted and held-back definitions of tools, and the learned shapes of their results. */

import { HELD_DEFINITION, LEARNED_SHAPE, PIN, PINNED_TOOL } from "../../store.ts";
import type { PinStore, ShapeStore } from "../../store.ts";

import { insertInto } from "../connection.ts";
import type { Connection } from "../connection.ts";

const PINNED = `SELECT ${PINNED_TOOL.columns} FROM pins`;
const HELD = "SELECT * FROM held_definitions";
const ORDER = "ORDER BY connector, remote_name";

export function createPins({ database, read, write }: Connection): PinStore {
  const pinned = database.prepare(`${PINNED} ${ORDER}`);
  const pinnedOf = database.prepare(`${PINNED} WHERE connector = ? ${ORDER}`);
  const select = database.prepare("SELECT * FROM pins WHERE connector = ? AND remote_name = ?");
  const claim = database.prepare(`${insertInto("pins", PIN)} ON CONFLICT DO NOTHING`);
  // Not OR REPLACE: that would also delete another tool's pin with the same name.
  const replace = database.prepare(
    `${insertInto("pins", PIN)} ON CONFLICT (connector, remote_name) DO UPDATE SET digest = excluded.digest,
       definition = excluded.definition, pinned_at = excluded.pinned_at, pinned_by = excluded.pinned_by`,
  );
  const setName = database.prepare(
    "UPDATE OR IGNORE pins SET name = ? WHERE connector = ? AND remote_name = ? AND name IS NULL",
  );
  const held = database.prepare(`${HELD} ${ORDER}`);
  const heldOf = database.prepare(`${HELD} WHERE connector = ? ${ORDER}`);
  const hold = database.prepare(insertInto("held_definitions", HELD_DEFINITION, "OR REPLACE"));
  const releaseAll = database.prepare("DELETE FROM held_definitions WHERE connector = ?");
  const release = database.prepare(
    "DELETE FROM held_definitions WHERE connector = ? AND remote_name = ? AND digest = ?",
  );

  return {
    list: (connector) =>
      read(() => (connector === undefined ? pinned.all() : pinnedOf.all(connector)).map(PINNED_TOOL.parse)),
    find: (connector, remoteName) => read(() => PIN.parseIfFound(select.get(connector, remoteName))),
    claim: (rows) => writeInBatches(rows, write, (row) => claim.run(...PIN.toValues(row))),
    name: (tools) =>
      write(() => {
        for (const { connector, remoteName, name = null } of tools) setName.run(name, connector, remoteName);
      }),
    approve: (rows) =>
      write(() => {
        for (const row of rows) {
          const { name = null, ...unnamed } = row;
          replace.run(...PIN.toValues(unnamed));
          setName.run(name, row.connector, row.remoteName);
          release.run(row.connector, row.remoteName, row.digest);
        }
      }),
    held: (connector) =>
      read(() => (connector === undefined ? held.all() : heldOf.all(connector)).map(HELD_DEFINITION.parse)),
    async replaceHeld(connector, rows) {
      await write(() => void releaseAll.run(connector));
      await writeInBatches(rows, write, (row) => hold.run(...HELD_DEFINITION.toValues({ ...row, connector })));
    },
  };
}

/** The size of the definitions that are written in one transaction. */
const BATCH_CHARS = 512 * 1024;

/** A server may list thousands of tools: several transactions, so that none of them holds the thread for long. */
async function writeInBatches<Row extends { readonly definition: string }>(
  rows: readonly Row[],
  write: Connection["write"],
  insert: (row: Row) => unknown,
): Promise<void> {
  for (let start = 0; start < rows.length;) {
    let chars = 0;
    const more = rows.slice(start).findIndex((row) => (chars += row.definition.length) > BATCH_CHARS);
    const end = more < 0 ? rows.length : start + Math.max(1, more);
    await write(() => rows.slice(start, end).forEach(insert));
    start = end;
  }
}

export function createShapes({ database, read, write }: Connection): ShapeStore {
  const put = database.prepare(insertInto("learned_shapes", LEARNED_SHAPE, "OR REPLACE"));
  const selectAll = database.prepare(`SELECT * FROM learned_shapes ${ORDER}, owner`);
  return {
    put: (row) => write(() => void put.run(...LEARNED_SHAPE.toValues(row))),
    list: () => read(() => selectAll.all().map(LEARNED_SHAPE.parse)),
  };
}
