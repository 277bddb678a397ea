/** Filters of `glovebox audit`: values that no record can have are refused, others may find nothing. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { ACTIONS, refuseUnknownFilters } from "./audit-filters.ts";

const EXECUTION = `ex_${"a".repeat(24)}`;
const RECORD = { actor: "ada", action: "call.ended", subject: "files.writeFile", outcome: "odd", execution: EXECUTION };

/** A ledger with one record. */
const reader = {
  search: async (query: object): Promise<readonly JsonObject[]> => {
    const wanted = Object.entries({ ...query, limit: undefined }).filter(([, value]) => value !== undefined);
    return wanted.every(([key, value]) => Object.entries(RECORD).some(([name, own]) => name === key && own === value))
      ? [RECORD]
      : [];
  },
};

it("refuseUnknownFilters refuses values that no record has, and names the nearest", async () => {
  for (const [query, hint] of [
    [{ outcome: "refused" }, /denied|failed/],
    [{ subject: "files.writeFil" }, /files\.writeFile/],
    [{ actor: "grace" }, /ada/],
    [{ action: "call.endet" }, /call\.ended/],
    [{ execution: "ex_1" }, /without filters/],
    [{ execution: `ex_${"b".repeat(24)}` }, /without filters/],
  ] as const)
    await assert.rejects(refuseUnknownFilters(reader, { ...query, limit: 5 }), (thrown) => {
      assert.ok(thrown instanceof GloveboxError && thrown.code === "REQUEST_INVALID");
      assert.match(thrown.details.hint ?? "", hint);
      return true;
    });
});

it("refuseUnknownFilters accepts values that exist without a record, and those that a record has", async () => {
  for (const query of [
    { outcome: "denied" },
    { outcome: "POLICY_DENIED" },
    { outcome: "odd" },
    { subject: "files.writeFile" },
    { actor: "local" },
    { actor: "ada" },
    { action: "approval" },
    { action: "anomaly.seen" },
    { execution: EXECUTION },
    {},
  ])
    await refuseUnknownFilters(reader, { ...query, limit: 5 });
});

it("ACTIONS has every action that the documents list", () => {
  const text = readFileSync("docs/reference/ledger.md", "utf8");
  const rows = text.split("\n").filter((line) => /^\| `[a-z]+\.[a-z_]+`/.test(line));
  const listed = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, name]) => name),
  );
  assert.ok(listed.length > 20);
  assert.deepEqual(
    listed.filter((name) => name !== undefined && !ACTIONS.includes(name)),
    [],
  );
});
