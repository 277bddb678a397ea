/** Journals on a real store: what comes back, what does not open, and what happens when there is too much or no disk. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, GloveboxError, parseExecutionId, parsePrincipalId } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import type { JournalPiece } from "../../store/index.ts";
import type { JournalEvent } from "../journal.ts";
import { openJournals } from "./open-journals.ts";
import type { JournalsOptions } from "./open-journals.ts";

const EXECUTION = parseExecutionId(`ex_${"1".repeat(24)}`) ?? assert.fail();
const OTHER = parseExecutionId(`ex_${"2".repeat(24)}`) ?? assert.fail();
const principal = { id: parsePrincipalId("agent") ?? assert.fail(), kind: "agent", groups: [] } as const;
const ASKED = { principal, source: "return 1\n\u2028", limits: DEFAULT_LIMITS, input: { a: ["ü\n"] } } as const;

/** Binds a text to its place as the vault does, readable for the test. */
const SEAL: JournalsOptions["seal"] = {
  close: (plain, context) => Buffer.from(`${context}\u0000${String(plain)}`),
  open(sealed, context) {
    const [bound, plain] = Buffer.from(sealed).toString().split("\u0000");
    if (bound !== context || plain === undefined) throw new GloveboxError("STORE_UNAVAILABLE", "moved");
    return plain;
  },
};

function given(id: number, text = `"${id}"`): Extract<JournalEvent, { kind: "given" }> {
  return { kind: "given", delivery: { kind: "reply", id, atMs: id, text } };
}

async function open(changes: Partial<JournalsOptions> = {}) {
  const store = await openStore({ path: ":memory:", now: () => 0 });
  const bounds = { keepMs: 10, totalBytes: 1_000_000, executionBytes: 10_000 };
  return { store, journals: openJournals({ store: store.journals, seal: SEAL, now: () => 0, ...bounds, ...changes }) };
}

describe("a journal", () => {
  it("reads a journal back in the order of its notes, however often it was written", async () => {
    const { store, journals } = await open();
    const journal = journals.begin(EXECUTION);
    journal.note({ kind: "asked", ...ASKED });
    await journal.write();
    journal.note(given(2));
    journal.note(given(1));
    await journal.flush();
    await journal.flush();
    journal.note({ kind: "given", delivery: { kind: "tick", id: 1, atMs: 3, text: "" } });
    await journal.flush();
    const recording = await journals.read(EXECUTION);
    assert.deepEqual(recording?.request.source, ASKED.source);
    assert.deepEqual(recording.request.input, ASKED.input);
    assert.deepEqual(
      recording.deliveries.map(({ delivery: { kind, id } }) => [kind, id]),
      [
        ["reply", 2],
        ["reply", 1],
        ["tick", 1],
      ],
    );
    assert.deepEqual([recording.isWhole, recording.started], [true, undefined]);
    assert.equal((await store.journals.read(EXECUTION)).length, 3, "one piece for each flush that had something");
    await store.close();
  });

  it("reads long texts back, and writes a large one unescaped in several pieces", async () => {
    const { store, journals } = await open({ executionBytes: 10_000_000 });
    const journal = journals.begin(EXECUTION);
    journal.note({ kind: "asked", ...ASKED });
    const quotes = (count: number): string => JSON.stringify('"'.repeat(count));
    const pairs = JSON.stringify(`x${"😀".repeat(300_000)}`);
    const texts = [quotes(1), quotes(3_000), quotes(400_000), `"a\nb"${" ".repeat(5_000)}`, pairs, quotes(2)];
    for (const [id, text] of texts.entries()) journal.note(given(id, text));
    await journal.flush();
    const recording = await journals.read(EXECUTION);
    assert.deepEqual(
      recording?.deliveries,
      texts.map((text, id) => ({ kind: "given", delivery: given(id, text).delivery })),
    );
    const pieces = (await store.journals.read(EXECUTION)).map(({ sealed }) => Buffer.from(sealed).toString());
    assert.ok(pieces.length > 2);
    assert.ok(Math.max(...pieces.map((piece) => piece.length)) < 600_000);
    assert.ok(pieces.some((piece) => piece.includes(quotes(50_000).slice(1, -1))));
    assert.ok(journal.isWritten());
    await store.close();
  });

  it("is written when every note was, and not before or after a note was lost", async () => {
    const { store, journals } = await open();
    const journal = journals.begin(EXECUTION);
    assert.equal(journal.isWritten(), true);
    journal.note({ kind: "asked", ...ASKED });
    assert.equal(journal.isWritten(), false);
    const first = journal.write();
    journal.note(given(1));
    await first;
    await journal.write();
    assert.equal(journal.isWritten(), true);
    await store.close();
    journal.note(given(2));
    await assert.rejects(journal.write(), { code: "STORE_UNAVAILABLE" });
    assert.equal(journal.isWritten(), false);
  });

  it("continues a journal that another process left", async () => {
    const { store, journals } = await open();
    const first = journals.begin(EXECUTION);
    first.note({ kind: "asked", ...ASKED });
    first.note(given(1));
    await first.flush();
    const again = await journals.reopen(EXECUTION);
    again?.journal.note(given(2));
    await again?.journal.flush();
    assert.equal((await journals.read(EXECUTION))?.deliveries.length, 2);
    first.note(given(3));
    await assert.rejects(first.flush(), { code: "REQUEST_CONFLICT" }, "two processes cannot continue one journal");
    assert.equal((await journals.read(EXECUTION))?.deliveries.length, 2);
    await store.close();
  });

  it("refuses a journal with a moved piece, and finds none where nothing was written", async () => {
    const { store, journals } = await open();
    const journal = journals.begin(EXECUTION);
    journal.note({ kind: "asked", ...ASKED });
    await journal.flush();
    const [piece]: readonly JournalPiece[] = await store.journals.read(EXECUTION);
    assert.ok(piece);
    await store.journals.append(() => [{ ...piece, execution: OTHER }], true);
    await assert.rejects(journals.read(OTHER), { code: "REPLAY_DIVERGED" });
    assert.equal((await journals.read(EXECUTION))?.isWhole, true);
    assert.equal(await journals.reopen(parseExecutionId(`ex_${"3".repeat(24)}`) ?? assert.fail()), undefined);
    await store.close();
  });

  it("keeps a journal complete up to its size limit and marks it as incomplete above it", async () => {
    const size = JSON.stringify({ kind: "asked", ...ASKED }).length + JSON.stringify(given(1)).length;
    for (const [executionBytes, isWhole] of [
      [size - 1, false],
      [size, true],
      [size + 1, true],
    ] as const) {
      const { store, journals } = await open({ executionBytes });
      const journal = journals.begin(EXECUTION);
      journal.note({ kind: "asked", ...ASKED });
      journal.note(given(1));
      await journal.flush();
      assert.deepEqual([journal.isWhole(), (await journals.read(EXECUTION))?.isWhole], [isWhole, isWhole]);
      await store.close();
    }
  });

  it("rejects every flush after a write was lost", async () => {
    const { store, journals } = await open();
    const journal = journals.begin(EXECUTION);
    await store.close();
    journal.note({ kind: "asked", ...ASKED });
    await assert.rejects(journal.flush(), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(journal.flush(), { code: "STORE_UNAVAILABLE" }, "it stays lost");
  });
});
