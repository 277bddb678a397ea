/** The labels of principals without sessions. */

import { isJsonObject, parseExecutionId, parsePrincipalId, parseToolAddress } from "../../../domain/index.ts";
import type { LabelSource } from "../../../domain/index.ts";
import type { LabelRow, LabelStore } from "../../store.ts";

import type { Connection } from "../connection.ts";
import { idOf, integerOf, textOf } from "../row.ts";
import type { Row } from "../row.ts";
import { damaged } from "../to-store-error.ts";

export function createLabels({ database, write }: Connection): LabelStore {
  const put = database.prepare("INSERT OR REPLACE INTO taken_labels VALUES (?, ?, ?)");
  const forget = database.prepare("DELETE FROM taken_labels WHERE taken_at <= ?");
  const selectAll = database.prepare("SELECT * FROM taken_labels ORDER BY principal");

  return {
    put: async ({ principal, sources, takenAt }) => {
      await write(() => put.run(principal, JSON.stringify(sources), takenAt));
    },
    list: (since) =>
      write(() => {
        forget.run(since);
        return selectAll.all().map(toLabelRow);
      }),
  };
}

function toLabelRow(row: Row): LabelRow {
  return {
    principal: idOf(row, "principal", parsePrincipalId),
    sources: parseSources(textOf(row, "sources")),
    takenAt: integerOf(row, "taken_at"),
  };
}

/** Throws for anything but valid labels: dropping one would make tainted data look clean. */
export function parseSources(text: string): readonly LabelSource[] {
  const raw: unknown = JSON.parse(text);
  if (!Array.isArray(raw)) throw damaged("labels are not an array");
  return raw.map(parseSource);
}

function parseSource(raw: unknown): LabelSource {
  const { label, tool, execution, seq } = isJsonObject(raw) ? raw : {};
  const [address, id] = [parseToolAddress(tool), parseExecutionId(execution)];
  const isLabel = label === "private" || label === "untrusted";
  if (!isLabel || !address || !id || typeof seq !== "number") throw damaged("a label has an invalid source");
  return { label, tool: address, execution: id, seq };
}
