/** Detects a thousand random ways to tamper with a ledger; the untouched copy verifies. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import * as fc from "fast-check";

import { GloveboxError } from "../../domain/index.ts";
import { rechain } from "./fixtures/rechain.ts";
import {
  SIGNER,
  copyStore,
  editHead,
  judge,
  makeFolder,
  tamper,
  useLedger,
  writeSome,
} from "./fixtures/signed-store.ts";

const RUNS = 1_000;
const { folder, remove } = makeFolder();
const original = join(folder, "original.db");
let records = 0;
after(remove);

before(async () => {
  for (const count of [7, 5, 9]) await useLedger(original, (ledger) => writeSome(ledger, count));
  records = 21;
});

const COLUMNS = ["at", "actor", "action", "subject", "detail", "previous", "digest"] as const;
const STATEMENT_COLUMNS = ["number", "kind", "seq", "at", "text"] as const;
const LAST_STATEMENT = 3;

type Attack = { readonly name: string; readonly act: (path: string) => void };

const inDatabase = (name: string, act: (database: DatabaseSync) => void): Attack => ({
  name,
  act: (path) => tamper(path, act),
});

const seq = fc.integer({ min: 1, max: 21 });
const statement = fc.integer({ min: 1, max: LAST_STATEMENT });

const edits = fc.tuple(fc.constantFrom(...COLUMNS), seq).map(([column, n]) =>
  inDatabase(`edit ${column} of ${n}`, (database) => {
    const value = column === "at" ? "at + 1" : column === "detail" ? `'{"n":99}'` : `${column} || 'x'`;
    database.exec(`UPDATE ledger SET ${column} = ${value} WHERE seq = ${n}`);
  }),
);
const removals = fc
  .tuple(seq, fc.integer({ min: 1, max: 4 }))
  .map(([n, count]) =>
    inDatabase(`delete ${count} from ${n}`, (database) =>
      database.exec(`DELETE FROM ledger WHERE seq BETWEEN ${n} AND ${n + count - 1}`),
    ),
  );
const insertions = seq.map((n) =>
  inDatabase(`insert at ${n}`, (database) => {
    database.exec(`UPDATE ledger SET seq = -seq WHERE seq >= ${n}; UPDATE ledger SET seq = 1 - seq WHERE seq < 0`);
    const copy = `SELECT ${n}, at, actor, action, subject, detail, previous, digest FROM ledger WHERE seq = ${n + 1}`;
    database.exec(`INSERT INTO ledger ${copy}`);
  }),
);
const swaps = fc
  .tuple(seq, seq)
  .filter(([one, other]) => one !== other)
  .map(([one, other]) =>
    inDatabase(`swap ${one} and ${other}`, (database) =>
      database.exec(`UPDATE ledger SET seq = -1 WHERE seq = ${one};
        UPDATE ledger SET seq = ${one} WHERE seq = ${other}; UPDATE ledger SET seq = ${other} WHERE seq = -1`),
    ),
  );
/** Removes the statements about the removed records too. */
const truncations = seq.map((n) =>
  inDatabase(`cut off from ${n}`, (database) =>
    database.exec(`DELETE FROM ledger WHERE seq >= ${n}; DELETE FROM statements WHERE seq >= ${n}`),
  ),
);
const checkpointEdits = fc.tuple(fc.constantFrom(...STATEMENT_COLUMNS), statement).map(([column, number]) =>
  inDatabase(`edit ${column} of statement ${number}`, (database) => {
    const value =
      column === "text" ? `replace(text, '"seq":', '"seq":1')` : column === "kind" ? "'cut'" : `${column} + 50`;
    database.exec(`UPDATE statements SET ${column} = ${value} WHERE number = ${number}`);
  }),
);
const checkpointRemovals = statement.map((number) =>
  inDatabase(`delete statement ${number}`, (database) =>
    database.exec(`DELETE FROM statements WHERE number = ${number}`),
  ),
);
/** Makes everything consistent except the signatures. */
const rechainings = fc.tuple(seq, fc.boolean()).map(([n, isRelabeled]) =>
  inDatabase(`rewrite from ${n}`, (database) => {
    database.exec(`UPDATE ledger SET actor = 'x' WHERE seq = ${n}`);
    rechain(database, n);
    if (isRelabeled) relabel(database);
  }),
);
const heads = fc.constantFrom<Attack>(
  { name: "delete the head", act: (path) => rmSync(`${path}.head`) },
  { name: "empty the head", act: (path) => editHead(path, () => "") },
  { name: "lower the head", act: (path) => editHead(path, (text) => text.replace('"seq":21', '"seq":12')) },
  { name: "another number", act: (path) => editHead(path, (text) => text.replace('"number":3', '"number":2')) },
);

const strays = fc.tuple(fc.constantFrom(0, -1, -(2 ** 53), "-9223372036854775808"), seq).map(([place, n]) =>
  inDatabase(`add ${place}`, (database) => {
    const copy = `at, actor, action, subject, detail, previous, digest FROM ledger WHERE seq = ${n}`;
    database.exec(`INSERT INTO ledger SELECT ${place}, ${copy}`);
  }),
);
const hugeNumbers = fc
  .tuple(fc.constantFrom("at", "seq"), fc.constantFrom("9223372036854775807", "9007199254740993"), seq)
  .map(([column, value, n]) =>
    inDatabase(`${column} of ${n} is ${value}`, (database) =>
      database.exec(`UPDATE ledger SET ${column} = ${value} WHERE seq = ${n}`),
    ),
  );
const strayStatements = fc
  .tuple(fc.constantFrom(0, -1), statement)
  .map(([place, number]) =>
    inDatabase(`add statement ${place}`, (database) =>
      database.exec(
        `INSERT INTO statements SELECT ${place}, kind, seq, at, text FROM statements WHERE number = ${number}`,
      ),
    ),
  );
const wipes = fc.constant<Attack>({
  name: "wipe everything but the key",
  act: (path) => {
    tamper(path, (database) => database.exec("DELETE FROM ledger; DELETE FROM statements"));
    rmSync(`${path}.head`);
  },
});

/** Puts the new digests into the statements and keeps the old signatures. */
function relabel(database: DatabaseSync): void {
  for (const row of database.prepare("SELECT number, seq, text FROM statements").all()) {
    const digest = String(database.prepare("SELECT digest FROM ledger WHERE seq = ?").get(row["seq"] ?? 0)?.["digest"]);
    const text = String(row["text"]).replace(/"digest":"[^"]*"/, `"digest":"${digest}"`);
    database.prepare("UPDATE statements SET text = ? WHERE number = ?").run(text, row["number"] ?? 0);
  }
}

const attacks = fc.oneof(
  edits,
  removals,
  insertions,
  swaps,
  truncations,
  checkpointEdits,
  checkpointRemovals,
  rechainings,
  heads,
  strays,
  hugeNumbers,
  strayStatements,
  wipes,
);

test("verifyStore detects each of a thousand random changes", async () => {
  let runs = 0;
  const property = fc.asyncProperty(attacks, async ({ name, act }) => {
    const copy = copyStore(original, join(folder, "copy.db"));
    act(copy);
    const verdict = await judge(copy);
    assert.equal(verdict.ok, false, name);
    runs += 1;
  });
  await fc.assert(property, { numRuns: RUNS });
  assert.equal(runs, RUNS);
});

test("verifyStore accepts the untouched copy and names the signed range and key", async () => {
  const copy = copyStore(original, join(folder, "untouched.db"));
  tamper(copy, () => undefined);
  assert.deepEqual(await judge(copy), { ok: true, records, signed: records, key: SIGNER.key });
});

test("an unsafe record number prevents opening only at the end of the chain, with a remedy", async () => {
  const huge = copyStore(original, join(folder, "huge.db"));
  tamper(huge, (database) => database.exec("UPDATE ledger SET seq = 9007199254740993 WHERE seq = 21"));
  await assert.rejects(
    useLedger(huge, (ledger) => writeSome(ledger, 1)),
    (thrown) => thrown instanceof GloveboxError && thrown.code === "STORE_UNAVAILABLE",
  );
  const late = copyStore(original, join(folder, "late.db"));
  tamper(late, (database) => database.exec("UPDATE ledger SET at = 9223372036854775807 WHERE seq = 21"));
  await useLedger(late, (ledger) => writeSome(ledger, 1));
  assert.deepEqual(await judge(late), { ok: false, seq: 21, problem: "this is not a ledger record" });
});
