/** Evidence of an approval: computed once, sealed with the arguments, and in the ledger only as numbers. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { isJsonObject } from "../../domain/index.ts";
import type { Approval } from "../../domain/index.ts";
import { OPERATOR, openQueue, requestOf } from "./fixtures/open-queue.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-evidence-"));
after(() => rmSync(folder, { recursive: true }));

type SampleEvidence = NonNullable<Approval["evidence"]>;

const SOURCE = { tool: "mail.read", seq: 1 };
const EVIDENCE: SampleEvidence = {
  kind: "compared",
  rounds: 4,
  wanted: 4,
  made: 3,
  sources: [SOURCE],
  control: { sources: [SOURCE], isOneOf: false },
  args: [
    { name: "nameOfBody", finding: "changed", cause: { sources: [SOURCE], isOneOf: false }, contains: [SOURCE] },
    { name: "to", finding: "constant" },
  ],
  hadRead: false,
};

describe("evidence of an approval", () => {
  it("is part of the approval, in every process that opens the store", async () => {
    const path = join(folder, "shown.db");
    await using queue = await openQueue(path);
    const { id } = await queue.approvals.request({ ...requestOf(), evidence: () => Promise.resolve(EVIDENCE) });
    await using other = await openQueue(path);
    assert.deepEqual((await other.approvals.find(id))?.evidence, EVIDENCE);
    assert.deepEqual((await other.approvals.list({}))[0]?.evidence, EVIDENCE);
  });
  it("is not computed for a call whose approval exists, nor for one that a decision covers", async () => {
    await using queue = await openQueue(join(folder, "once.db"));
    let computed = 0;
    const evidence = (): Promise<SampleEvidence> => {
      computed += 1;
      return Promise.resolve(EVIDENCE);
    };
    const { id } = await queue.approvals.request({ ...requestOf(), evidence });
    await queue.approvals.request({ ...requestOf(), evidence });
    await queue.approvals.decide(id, { verdict: "approve", scope: "execution" }, OPERATOR);
    await queue.approvals.request({ ...requestOf({ seq: 2 }), evidence });
    assert.equal(computed, 1);
  });
  it("is in the ledger as numbers, without names of arguments", async () => {
    await using queue = await openQueue(join(folder, "ledger.db"));
    await queue.approvals.request({ ...requestOf(), evidence: () => Promise.resolve(EVIDENCE) });
    const none: SampleEvidence = { kind: "none", reason: "the replay failed" };
    await queue.approvals.request({ ...requestOf({ seq: 2 }), evidence: () => Promise.resolve(none) });
    await queue.approvals.request(requestOf({ seq: 3 }));
    const written = await queue.records();
    const counts = { rounds: 4, made: 3, control: "changed", changed: 1, unchanged: 0, constant: 1 };
    assert.deepEqual(
      written.map(({ detail }) => (isJsonObject(detail) ? detail["evidence"] : null)),
      [counts, { none: "the replay failed" }, undefined],
    );
    assert.ok(!JSON.stringify(written).includes("nameOfBody"));
  });
});
