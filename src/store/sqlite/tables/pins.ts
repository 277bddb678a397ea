/** Accepted and held-back definitions of tools, and the learned shapes of their results. */

import { parseDigest } from "../../../domain/index.ts";
import { createShape, parsed, text } from "../../row.ts";
import { HELD_DEFINITION, LEARNED_SHAPE, PIN } from "../../store.ts";
import type { PinStore, ShapeStore } from "../../store.ts";

import { insertInto } from "../connection.ts";
import type { Connection } from "../connection.ts";

const PINNED_DIGEST = createShape({ remoteName: text, digest: parsed(parseDigest) });
const HELD = "SELECT * FROM held_definitions";
const ORDER = "ORDER BY connector, remote_name";

export function createPins({ database, read, write }: Connection): PinStore {
  const digests = database.prepare(`SELECT ${PINNED_DIGEST.columns} FROM pins WHERE connector = ?`);
  const select = database.prepare("SELECT * FROM pins WHERE connector = ? AND remote_name = ?");
  const claim = database.prepare(`${insertInto("pins", PIN)} ON CONFLICT DO NOTHING`);
  const replace = database.prepare(insertInto("pins", PIN, "OR REPLACE"));
  const held = database.prepare(`${HELD} ${ORDER}`);
  const heldOf = database.prepare(`${HELD} WHERE connector = ? ${ORDER}`);
  const hold = database.prepare(insertInto("held_definitions", HELD_DEFINITION, "OR REPLACE"));
  const releaseAll = database.prepare("DELETE FROM held_definitions WHERE connector = ?");
  const release = database.prepare(
    "DELETE FROM held_definitions WHERE connector = ? AND remote_name = ? AND digest = ?",
  );

  return {
    digests: (connector) =>
      read(() => {
        const rows = digests.all(connector).map(PINNED_DIGEST.parse);
        return new Map(rows.map(({ remoteName, digest }) => [remoteName, digest]));
      }),
    find: (connector, remoteName) => read(() => PIN.parseIfFound(select.get(connector, remoteName))),
    claim: (rows) => write(() => rows.forEach((row) => claim.run(...PIN.toValues(row)))),
    approve: (rows) =>
      write(() => {
        for (const row of rows) {
          replace.run(...PIN.toValues(row));
          release.run(row.connector, row.remoteName, row.digest);
        }
      }),
    held: (connector) =>
      read(() => (connector === undefined ? held.all() : heldOf.all(connector)).map(HELD_DEFINITION.parse)),
    replaceHeld: (connector, rows) =>
      write(() => {
        releaseAll.run(connector);
        for (const row of rows) hold.run(...HELD_DEFINITION.toValues({ ...row, connector }));
      }),
  };
}

export function createShapes({ database, read, write }: Connection): ShapeStore {
  const put = database.prepare(insertInto("learned_shapes", LEARNED_SHAPE, "OR REPLACE"));
  const selectAll = database.prepare(`SELECT * FROM learned_shapes ${ORDER}`);
  return {
    put: (row) => write(() => void put.run(...LEARNED_SHAPE.toValues(row))),
    list: () => read(() => selectAll.all().map(LEARNED_SHAPE.parse)),
  };
}
