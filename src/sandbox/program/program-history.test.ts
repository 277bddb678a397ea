/** What is kept of a program so that another child can repeat it. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { MOST_HISTORY_BYTES, ProgramHistory } from "./program-history.ts";

const ENTRY_BYTES = 64;

for (const [what, extra, isWhole] of [
  ["one byte below", -1, true],
  ["exactly", 0, true],
  ["one byte above", 1, false],
] as const)
  it(`a history of ${what} its size is ${isWhole ? "kept whole" : "dropped"}`, () => {
    const history = new ProgramHistory();
    history.addCall("call");
    const rest = MOST_HISTORY_BYTES - 2 * ENTRY_BYTES - "call".length;
    history.addDelivery({ kind: "reply", id: 1, atMs: 0, text: "x".repeat(rest + extra) });
    assert.deepEqual([history.isWhole, history.deliveries.length, history.calls], [isWhole, isWhole ? 1 : 0, 1]);
  });

it("a history counts empty ticks, too", () => {
  const history = new ProgramHistory();
  const most = MOST_HISTORY_BYTES / ENTRY_BYTES;
  for (let id = 1; id <= most; id += 1) history.addDelivery({ kind: "tick", id, atMs: 0, text: "" });
  assert.deepEqual([history.isWhole, history.deliveries.length], [true, most]);
  history.addDelivery({ kind: "tick", id: most + 1, atMs: 0, text: "" });
  assert.deepEqual([history.isWhole, history.deliveries.length], [false, 0]);
});

it("a history accepts the same call again and refuses another one", () => {
  const history = new ProgramHistory();
  history.addCall("files.read\n{}");
  history.checkCall(1, "files.read\n{}");
  assert.throws(() => history.checkCall(1, "files.write\n{}"), { code: "REPLAY_DIVERGED" });
});
