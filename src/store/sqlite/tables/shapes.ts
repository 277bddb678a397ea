/** Learned shapes of results, one row per tool. */

import { parseConnectorId, parseDigest } from "../../../domain/index.ts";
import type { ShapeRow, ShapeStore } from "../../store.ts";

import type { Connection } from "../connection.ts";
import { idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";

export function createShapes({ database, read, write }: Connection): ShapeStore {
  const put = database.prepare("INSERT OR REPLACE INTO learned_shapes VALUES (?, ?, ?, ?, ?, ?)");
  const selectAll = database.prepare("SELECT * FROM learned_shapes ORDER BY connector, remote_name");

  return {
    put: async ({ connector, remoteName, definition, shape, samples, changedAt }) => {
      await write(() => put.run(connector, remoteName, definition, shape, samples, changedAt));
    },
    list: () => read(() => selectAll.all().map(toShapeRow)),
  };
}

function toShapeRow(row: Row): ShapeRow {
  return {
    connector: idOf(row, "connector", parseConnectorId),
    remoteName: textOf(row, "remote_name"),
    definition: idOf(row, "definition", parseDigest),
    shape: textOf(row, "shape"),
    samples: integerOf(row, "samples"),
    changedAt: integerOf(row, "changed_at"),
  };
}
