/** Verifying exports offline: intact ones pass; truncation, edits and foreign signatures are detected. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import * as fc from "fast-check";

import { openStore } from "../../store/index.ts";
import { openReader, parseLedgerLine, verifyExport } from "../index.ts";
import type { Signer } from "../signer.ts";
import { SIGNER, STRANGER, makeFolder, tamper, useLedger, writeSome } from "./fixtures/signed-store.ts";

const { folder, remove } = makeFolder();
const path = join(folder, "ledger.db");
let whole: readonly string[] = [];
after(remove);

async function exportFrom(file: string, signer: Signer = SIGNER): Promise<{ lines: string[]; ok: boolean }> {
  await using store = await openStore({ path: file, now: () => 7 });
  const generator = openReader({ store, signer, headFile: `${file}.head`, now: () => 7 }).export();
  const lines: string[] = [];
  for (;;) {
    const step = await generator.next();
    if (step.done) return { lines, ok: step.value.ok };
    lines.push(step.value);
  }
}

before(async () => {
  await useLedger(path, (ledger) => writeSome(ledger, 12));
  whole = (await exportFrom(path)).lines;
});

const judge = (lines: readonly string[], key?: typeof SIGNER.key) => verifyExport(lines.map(parseLedgerLine), key);

test("verifyExport accepts an intact export, with and without a pinned key", async () => {
  const good = { ok: true, records: 12, signed: 12, key: SIGNER.key };
  assert.deepEqual([await judge(whole), await judge(whole, SIGNER.key)], [good, good]);
});

test("verifyExport accepts an export without records", async () => {
  const empty = join(folder, "empty.db");
  await useLedger(empty, async () => undefined);
  const { lines } = await exportFrom(empty);
  assert.deepEqual(await judge(lines, SIGNER.key), { ok: true, records: 0, signed: 0, key: SIGNER.key });
});

test("verifyExport detects truncation at any line", async () => {
  for (let kept = 0; kept < whole.length; kept += 1) {
    assert.equal((await judge(whole.slice(0, kept))).ok, false, `${kept} lines`);
    if (kept === whole.length - 1) continue;
    assert.equal((await judge([...whole.slice(0, kept), ...whole.slice(-1)])).ok, false, `${kept} lines and trailer`);
    if (kept > 0) assert.equal((await judge(whole.slice(kept))).ok, false, `without the first ${kept}`);
  }
});

test("verifyExport detects a change in any line", async () => {
  const property = fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(400), async (line, place) => {
    const text = whole[line] ?? "";
    const at = place % text.length;
    const changed = text.slice(0, at) + (text[at] === "1" ? "2" : "1") + text.slice(at + 1);
    const verdict = await judge(whole.with(line, changed), SIGNER.key);
    assert.equal(verdict.ok, false, changed);
  });
  await fc.assert(property, { numRuns: 500 });
});

test("verifyExport detects swapped, repeated and added lines", async () => {
  const [one = "", two = ""] = whole;
  assert.equal((await judge([two, one, ...whole.slice(2)])).ok, false);
  assert.equal((await judge([one, ...whole])).ok, false);
  assert.equal((await judge([...whole, "{}"])).ok, false);
  assert.equal((await judge([...whole, one])).ok, false);
});

describe("the signer of an export", () => {
  test("accepts another signer only without a pinned key, and names that signer", async () => {
    const forged = join(folder, "forged.db");
    await useLedger(forged, (ledger) => writeSome(ledger, 3), { signer: STRANGER });
    const { lines } = await exportFrom(forged, STRANGER);
    assert.deepEqual(await judge(lines), { ok: true, records: 3, signed: 3, key: STRANGER.key });
    assert.equal((await judge(lines, SIGNER.key)).ok, false);
  });

  test("exports a damaged ledger without a trailer", async () => {
    const broken = join(folder, "broken.db");
    await useLedger(broken, (ledger) => writeSome(ledger, 6));
    tamper(broken, (database) => database.exec("UPDATE ledger SET actor = 'x' WHERE seq = 3"));
    const { lines, ok } = await exportFrom(broken);
    assert.deepEqual([lines.length, ok], [6, false]);
    assert.equal((await judge(lines)).ok, false);
  });

  test("exports a truncated ledger without a trailer", async () => {
    const cut = join(folder, "cut.db");
    await useLedger(cut, (ledger) => writeSome(ledger, 6));
    tamper(cut, (database) => database.exec("DELETE FROM ledger WHERE seq > 4; DELETE FROM statements"));
    const { lines, ok } = await exportFrom(cut);
    assert.deepEqual([lines.length, ok], [4, false]);
  });

  test("exports a ledger with a recorded problem with a trailer, and verification reports the problem", async () => {
    const suspect = join(folder, "suspect.db");
    await useLedger(suspect, (ledger) => writeSome(ledger, 6));
    rmSync(`${suspect}.head`);
    await useLedger(suspect, (ledger) => writeSome(ledger, 1), { isNewKey: false });
    const { lines, ok } = await exportFrom(suspect);
    assert.deepEqual([lines.length, ok], [9, false]);
    assert.deepEqual(await judge(lines), {
      ok: false,
      seq: 7,
      problem: "noted by the gateway: the signed head is missing",
    });
  });
});
