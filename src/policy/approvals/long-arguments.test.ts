/** Approvals of large calls do not fill the store, and a damaged one does not hide others. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseApprovalId, parsePrincipalId } from "../../domain/index.ts";
import type { Approval, JsonObject, Principal } from "../../domain/index.ts";
import { KEPT_ARGUMENT_BYTES } from "../../store/approvals.ts";
import { AGENT, known } from "../rules/fixtures/decision-case.ts";
import { LISTED_BYTES, createDesk } from "./create-desk.ts";
import { EXPIRY_MS, OPERATOR, memoryRules, openQueue } from "./fixtures/open-queue.ts";
import type { Queue } from "./fixtures/open-queue.ts";
import { MAX_PENDING, MAX_PENDING_BYTES } from "./open-approvals.ts";

const NEVER = new AbortController().signal;
const OTHER: Principal = { ...AGENT, id: known(parsePrincipalId("other")) };
const LONG = { text: "x".repeat(KEPT_ARGUMENT_BYTES) };
const SHORT = { text: "x".repeat(KEPT_ARGUMENT_BYTES / 2) };

const deskOf = ({ approvals, store }: Queue) =>
  createDesk({ approvals, store, rules: memoryRules().rules, hide: (text) => text, findChange: async () => undefined });

const WAYS: Readonly<Record<string, (queue: Queue, asked: Approval) => Promise<unknown>>> = {
  approved: ({ approvals }, { id }) => approvals.decide(id, { verdict: "approve" }, OPERATOR),
  rejected: ({ approvals }, { id }) => approvals.decide(id, { verdict: "reject" }, OPERATOR),
  "taken back": ({ approvals }, { id }) => approvals.revoke(id, OPERATOR),
  "withdrawn with its execution": ({ approvals }, { execution }) => approvals.withdraw(execution),
  expired: async ({ approvals, clock, store }, { id }) => {
    const { last } = await store.approvals.changes();
    clock.at += EXPIRY_MS;
    while ((await store.approvals.changes(last)).changed.length === 0) await new Promise(setImmediate);
    await approvals.whenDecided(id, NEVER);
  },
};

describe("an approval of a large call", () => {
  for (const [way, settle] of Object.entries(WAYS))
    it(`keeps only its digest once it is ${way}, and is still listed, shown and returned`, async () => {
      await using queue = await openQueue();
      const asked = await queue.request({ args: LONG });
      assert.deepEqual(asked.args, LONG);
      await settle(queue, asked);
      assert.equal((await queue.store.approvals.find(asked.id))?.sealedArgs.length, 0);
      const found = known(await queue.approvals.find(asked.id));
      assert.notEqual(found.state, "pending");
      assert.deepEqual([found.args, found.argsShown, found.argsDigest], [null, "dropped", asked.argsDigest]);
      assert.deepEqual(await queue.approvals.list({}), [found]);
      assert.deepEqual((await deskOf(queue).show(asked.id)).approval, found);
      assert.deepEqual(await queue.request({ args: LONG }), found);
    });

  for (const [way, settle] of Object.entries(WAYS))
    it(`keeps smaller arguments when it is ${way}`, async () => {
      await using queue = await openQueue();
      const asked = await queue.request({ args: SHORT });
      await settle(queue, asked);
      const found = known(await queue.approvals.find(asked.id));
      assert.deepEqual([found.args, found.argsShown], [SHORT, undefined]);
    });

  it("an approval of a large call is refused when the pending arguments of its principal are too large together, and accepted with one fewer", async () => {
    await using queue = await openQueue();
    const args = { text: "x".repeat(MAX_PENDING_BYTES / 4) };
    for (const seq of [1, 2, 3]) await queue.request({ seq, args });
    await assert.rejects(queue.request({ seq: 4, args }), { code: "LIMIT_BUSY" });
    assert.equal((await queue.request({ seq: 5 })).state, "pending");
    assert.equal((await queue.request({ seq: 4, args, principal: OTHER })).state, "pending");
    await queue.approvals.revoke((await queue.request({ seq: 1, args })).id, OPERATOR);
    assert.equal((await queue.request({ seq: 4, args })).state, "pending");
  });

  it("an approval of a large call is shortened in lists and whole when it is shown", async () => {
    await using queue = await openQueue();
    const overhead = JSON.stringify({ text: "" }).length;
    const listed = async (seq: number, args: JsonObject) => {
      const { id } = await queue.request({ seq, args });
      assert.deepEqual((await deskOf(queue).show(id)).approval.args, args);
      const found = known((await deskOf(queue).list({})).find((approval) => approval.id === id));
      return [found.args, found.argsShown];
    };
    const fitting = { text: "x".repeat(LISTED_BYTES - overhead) };
    assert.deepEqual(await listed(1, fitting), [fitting, undefined]);
    const longer = { text: "\u00e9".repeat(LISTED_BYTES) };
    const beginning = `{"text":"${"\u00e9".repeat((LISTED_BYTES - 9 - 1) / 2)}`;
    assert.deepEqual(await listed(2, longer), [beginning, "beginning"]);
    const above = { text: `${fitting.text}x` };
    assert.deepEqual(await listed(3, above), [JSON.stringify(above).slice(0, LISTED_BYTES), "beginning"]);
  });
});

describe("an approval that is damaged in the store", () => {
  for (const [name, sealedArgs] of [
    ["changed", Buffer.from("no seal")],
    ["gone", new Uint8Array()],
  ] as const)
    it(`an approval that is damaged in the store is listed as damaged and cannot be approved when its arguments are ${name}; others are unaffected`, async () => {
      await using queue = await openQueue();
      const whole = await queue.request();
      const { id, ...row } = known(await queue.store.approvals.find((await queue.request({ seq: 2 })).id));
      const damaged = { ...row, id: damagedId(id), seq: 3, sealedArgs };
      await queue.store.approvals.claim(damaged, () => undefined, { ...MAX_PENDING, bytes: 1e6 });
      const { sealedArgs: _, ...head } = damaged;
      const listed = await queue.approvals.list({});
      assert.equal(listed.length, 3);
      assert.deepEqual(
        listed.find((approval) => approval.id === damaged.id),
        { ...head, args: null, argsShown: "damaged" },
      );
      assert.deepEqual(
        listed.find((approval) => approval.id === whole.id),
        whole,
      );
      await assert.rejects(queue.approvals.decide(damaged.id, { verdict: "approve" }, OPERATOR));
      assert.equal((await queue.store.approvals.find(damaged.id))?.state, "pending");
      assert.equal((await queue.approvals.decide(whole.id, { verdict: "approve" }, OPERATOR)).state, "approved");
    });
});

function damagedId(id: Approval["id"]): Approval["id"] {
  return known(parseApprovalId(`ap_d${id.slice(4)}`));
}
