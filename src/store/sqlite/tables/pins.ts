/** Accepted and held-back definitions of tools. */

import { parseConnectorId, parseDigest } from "../../../domain/index.ts";
import type { HeldRow, PinRow, PinStore } from "../../store.ts";

import type { Connection } from "../connection.ts";
import { idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";

const HELD = "SELECT * FROM held_definitions";
const ORDER = "ORDER BY connector, remote_name";

export function createPins({ database, read, write }: Connection): PinStore {
  const digests = database.prepare(`SELECT remote_name, digest FROM pins WHERE connector = ?`);
  const select = database.prepare("SELECT * FROM pins WHERE connector = ? AND remote_name = ?");
  const claim = database.prepare("INSERT INTO pins VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  const replace = database.prepare("INSERT OR REPLACE INTO pins VALUES (?, ?, ?, ?, ?, ?)");
  const held = database.prepare(`${HELD} ${ORDER}`);
  const heldOf = database.prepare(`${HELD} WHERE connector = ? ${ORDER}`);
  const hold = database.prepare("INSERT OR REPLACE INTO held_definitions VALUES (?, ?, ?, ?, ?)");
  const releaseAll = database.prepare("DELETE FROM held_definitions WHERE connector = ?");
  const release = database.prepare(
    "DELETE FROM held_definitions WHERE connector = ? AND remote_name = ? AND digest = ?",
  );

  return {
    digests: (connector) =>
      read(
        () =>
          new Map(digests.all(connector).map((row) => [textOf(row, "remote_name"), idOf(row, "digest", parseDigest)])),
      ),
    find: (connector, remoteName) =>
      read(() => {
        const row = select.get(connector, remoteName);
        return row && toPin(row);
      }),
    claim: (rows) => write(() => rows.forEach((row) => claim.run(...toColumns(row)))),
    approve: (rows) =>
      write(() => {
        for (const row of rows) {
          replace.run(...toColumns(row));
          release.run(row.connector, row.remoteName, row.digest);
        }
      }),
    held: (connector) => read(() => (connector === undefined ? held.all() : heldOf.all(connector)).map(toHeld)),
    replaceHeld: (connector, rows) =>
      write(() => {
        releaseAll.run(connector);
        for (const row of rows) hold.run(connector, row.remoteName, row.digest, row.definition, row.seenAt);
      }),
  };
}

function toColumns({ connector, remoteName, digest, definition, pinnedAt, pinnedBy }: PinRow) {
  return [connector, remoteName, digest, definition, pinnedAt, pinnedBy] as const;
}

function toPin(row: Row): PinRow {
  const { seenAt: pinnedAt, ...rest } = toDefinition(row, "pinned_at");
  return { ...rest, pinnedAt, pinnedBy: textOf(row, "pinned_by") };
}

function toHeld(row: Row): HeldRow {
  return toDefinition(row, "seen_at");
}

function toDefinition(row: Row, time: string): HeldRow {
  return {
    connector: idOf(row, "connector", parseConnectorId),
    remoteName: textOf(row, "remote_name"),
    digest: idOf(row, "digest", parseDigest),
    definition: textOf(row, "definition"),
    seenAt: integerOf(row, time),
  };
}
