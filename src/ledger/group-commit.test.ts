/** Group commits: which items wait, and which are lost with a failed commit. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";

import { createCommitGroup } from "./group-commit.ts";

/** A group whose commits are arrays of items, each completed by the test. */
function openGroup(size = 3) {
  const commits: {
    readonly items: readonly number[];
    readonly isFlushed: boolean;
    readonly end: (thrown?: Error) => void;
  }[] = [];
  const group = createCommitGroup<number, string>({
    size,
    waitMs: 5,
    commit: (items, isFlushed) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
      const kept = items.map((item) => `kept ${item}`);
      commits.push({ items, isFlushed, end: (thrown) => (thrown ? reject(thrown) : resolve(kept)) });
      return promise;
    },
  });
  return { group, commits, seen: () => commits.map(({ items }) => items) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createCommitGroup", () => {
  it("commits flushed items at once, in order, and resolves each with its result", async () => {
    const { group, commits, seen } = openGroup();
    const kept = [group.add(1, "flushed"), group.add(2, "flushed")];
    await turn();
    assert.deepEqual(seen(), [[1, 2]]);
    commits[0]?.end();
    assert.deepEqual(await Promise.all(kept), ["kept 1", "kept 2"]);
  });

  it("flushes a commit only if one of its items must be flushed", async () => {
    const { group, commits } = openGroup();
    void group.add(1, "committed");
    await turn();
    void group.add(2, "committed");
    void group.add(3, "batched");
    commits[0]?.end();
    await turn();
    void group.add(4, "batched");
    void group.add(5, "flushed");
    commits[1]?.end();
    await turn();
    assert.deepEqual(
      commits.map(({ items, isFlushed }) => [items, isFlushed]),
      [
        [[1], false],
        [[2, 3], false],
        [[4, 5], true],
      ],
    );
  });

  it("delays batched items for the configured time", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { group, seen } = openGroup();
    void group.add(1, "batched");
    void group.add(2, "batched");
    t.mock.timers.tick(4);
    await turn();
    assert.deepEqual(seen(), []);
    t.mock.timers.tick(1);
    await turn();
    assert.deepEqual(seen(), [[1, 2]]);
  });

  it("commits waiting items together with a flushed item, or when the batch is full", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { group, commits, seen } = openGroup();
    void group.add(1, "batched");
    void group.add(2, "flushed");
    await turn();
    commits[0]?.end();
    for (const item of [3, 4, 5, 6]) void group.add(item, "batched");
    await turn();
    commits[1]?.end();
    await turn();
    assert.deepEqual(seen(), [
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it("rejects the items behind a failed commit and commits later ones", async () => {
    const { group, commits, seen } = openGroup();
    const first = group.add(1, "flushed");
    await turn();
    const behind = group.add(2, "flushed");
    commits[0]?.end(new Error("full"));
    await assert.rejects(first, { message: "full" });
    await assert.rejects(behind, { message: "full" });
    const later = group.add(3, "flushed");
    await turn();
    commits[1]?.end();
    assert.equal(await later, "kept 3");
    assert.deepEqual(seen(), [[1], [3]]);
  });

  it("drains without waiting for the batching delay", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const { group, commits } = openGroup();
      const lost = assert.rejects(group.add(1, "batched"), { message: "full" });
      const settled = group.drain();
      await turn();
      commits[0]?.end(new Error("full"));
      await settled;
      await lost;
      await group.drain();
    } finally {
      mock.timers.reset();
    }
  });
});
