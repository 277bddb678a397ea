/** The conformance suite of `Store["approvals"]`. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  parseApprovalId,
  parseDigest,
  parseExecutionId,
  parsePrincipalId,
  parseRuleId,
  parseToolAddress,
} from "../domain/index.ts";
import type { ApprovalId } from "../domain/index.ts";
import { KEPT_ARGUMENT_BYTES } from "./approvals.ts";
import type { ApprovalHead, ApprovalPage, ApprovalRow, ApprovalStore } from "./approvals.ts";
import type { OpenStore } from "./store.conformance.ts";

const [EXECUTION, OTHER] = ["0", "1"].map((digit) => certain(parseExecutionId(`ex_${digit.repeat(24)}`)));
const [ADA, GRACE] = ["ada", "grace"].map((name) => certain(parsePrincipalId(name)));
const TOOL = certain(parseToolAddress("shop.pay"));
const MOST = { perExecution: 10, perSession: 10, perPrincipal: 10, bytes: 1e6 };

function idOf(n: number): ApprovalId {
  return certain(parseApprovalId(`ap_${n.toString(16).padStart(24, "0")}`));
}

/** Returns approval `n`, requested at millisecond `n`. */
function sample(n: number, fields: Partial<ApprovalRow> = {}): ApprovalRow {
  return {
    id: idOf(n),
    execution: certain(EXECUTION),
    seq: n,
    principal: certain(ADA),
    tool: TOOL,
    definition: certain(parseDigest(`sha256:${"a".repeat(64)}`)),
    effect: "write",
    argsDigest: certain(parseDigest(`sha256:${"b".repeat(64)}`)),
    rule: certain(parseRuleId("rules[0]")),
    reason: "money leaves",
    labels: [{ label: "private", tool: TOOL, execution: certain(EXECUTION), seq: 1 }],
    createdAt: n,
    expiresAt: 100 + n,
    state: "pending",
    sealedArgs: Uint8Array.of(n, 0, 255),
    ...fields,
  };
}

const DECIDED = { state: "approved", scope: "session", decidedBy: "operator", decidedAt: 9, note: "fine" } as const;

async function put(store: ApprovalStore, ...rows: readonly ApprovalRow[]): Promise<void> {
  for (const row of rows) await store.claim(row, () => undefined, MOST);
}

function headOf({ sealedArgs: _, ...head }: ApprovalRow): ApprovalHead {
  return head;
}

const idsOf = (rows: readonly ApprovalHead[]): readonly ApprovalId[] => rows.map(({ id }) => id);

export function describeApprovals(open: OpenStore): void {
  describeClaims(open);
  describeCounts(open);
  describeBytes(open);
  describePages(open);
  describeChanges(open);
}

function describeClaims(open: OpenStore): void {
  test("approvals are read as written, with and without a session", async () => {
    await using store = await open();
    await put(store.approvals, sample(1), sample(2, { session: "s1", ...DECIDED }));
    assert.deepEqual(await store.approvals.find(idOf(1)), sample(1));
    assert.deepEqual(await store.approvals.find(idOf(2)), sample(2, { session: "s1", ...DECIDED }));
    assert.equal(await store.approvals.find(idOf(3)), undefined);
  });

  test("claim inserts a row only if no related approval is chosen", async () => {
    await using store = await open();
    assert.equal(await store.approvals.claim(sample(1), ([first]) => first, MOST), idOf(1));
    assert.equal(await store.approvals.claim(sample(2), ([first]) => first, MOST), idOf(1));
    assert.equal(await store.approvals.find(idOf(2)), undefined);
    assert.equal(await store.approvals.claim(sample(2), () => undefined, MOST), idOf(2));
  });

  test("related returns approvals by execution and tool, or remembered ones by principal, tool and arguments", async () => {
    await using store = await open();
    const elsewhere = { execution: certain(OTHER), ...DECIDED };
    const tool = certain(parseToolAddress("shop.refund"));
    const argsDigest = certain(parseDigest(`sha256:${"c".repeat(64)}`));
    await put(store.approvals, sample(1), sample(2, elsewhere), sample(3, { tool }));
    await put(store.approvals, sample(4, { ...elsewhere, tool }), sample(5, { ...elsewhere, argsDigest }));
    await put(store.approvals, sample(6, { ...elsewhere, principal: certain(GRACE) }));
    await put(store.approvals, sample(7, { ...elsewhere, scope: "execution" }), sample(8, { argsDigest }));
    const related = await store.approvals.related(sample(9));
    assert.deepEqual(idsOf(related).toSorted(), [1, 2, 8].map(idOf));
    assert.deepEqual(
      related.find(({ id }) => id === idOf(2)),
      headOf(sample(2, elsewhere)),
    );
  });
}

function describeCounts(open: OpenStore): void {
  test("claim limits the number of pending approvals per principal, without expired ones", async () => {
    await using store = await open();
    const claim = (row: ApprovalRow) => store.approvals.claim(row, () => undefined, { ...MOST, perPrincipal: 2 });
    await claim(sample(1));
    await claim(sample(2));
    await assert.rejects(claim(sample(3)), {
      code: "LIMIT_BUSY",
      message: "ada has 2 pending approvals, which is the maximum",
    });
    assert.equal(await claim(sample(4, { principal: certain(GRACE) })), idOf(4));
    assert.equal(await claim(sample(5, { createdAt: sample(1).expiresAt })), idOf(5));
  });

  test("claim limits the number of pending approvals per execution", async () => {
    await using store = await open();
    const claim = (row: ApprovalRow) => store.approvals.claim(row, () => undefined, { ...MOST, perExecution: 2 });
    await claim(sample(1));
    await claim(sample(2));
    await assert.rejects(claim(sample(3)), {
      code: "LIMIT_BUSY",
      message: `${certain(EXECUTION)} has 2 pending approvals, which is the maximum`,
    });
    assert.equal(await claim(sample(3, { execution: certain(OTHER) })), idOf(3));
    await store.approvals.change({ kind: "one", id: idOf(2) }, () => DECIDED);
    assert.equal(await claim(sample(4)), idOf(4));
  });

  for (const session of ["s1", undefined])
    test(`claim limits the number of pending approvals per session${session === undefined ? " of a client without sessions" : ""}`, async () => {
      await using store = await open();
      const part = session === undefined ? {} : { session };
      const claim = (n: number, fields: Partial<ApprovalRow>) =>
        store.approvals.claim(sample(n, fields), () => undefined, { ...MOST, perSession: 2 });
      await claim(1, part);
      await claim(2, { ...part, execution: certain(OTHER) });
      await assert.rejects(claim(3, part), {
        code: "LIMIT_BUSY",
        message: "The session of ada has 2 pending approvals, which is the maximum",
      });
      assert.equal(await claim(3, { session: "s2" }), idOf(3));
      assert.equal(await claim(4, { ...part, principal: certain(GRACE) }), idOf(4));
    });
}

function describeBytes(open: OpenStore): void {
  test("claim limits the pending bytes per principal, except for a single larger one", async () => {
    await using store = await open();
    const claim = (n: number, bytes: number, fields: Partial<ApprovalRow> = {}) =>
      store.approvals.claim(sample(n, { sealedArgs: new Uint8Array(bytes), ...fields }), () => undefined, {
        ...MOST,
        bytes: 100,
      });
    await claim(1, 60);
    await assert.rejects(claim(2, 41), {
      code: "LIMIT_BUSY",
      message: "The arguments of the pending approvals of ada would exceed 100 bytes",
    });
    assert.equal(await claim(2, 39), idOf(2));
    assert.equal(await claim(3, 1), idOf(3));
    await assert.rejects(claim(4, 1), { code: "LIMIT_BUSY" });
    assert.equal(await claim(4, 101, { principal: certain(GRACE) }), idOf(4));
    await store.approvals.change({ kind: "one", id: idOf(2) }, () => DECIDED);
    assert.equal(await claim(5, 39), idOf(5));
  });
}

function describePages(open: OpenStore): void {
  test("list returns pages with pending approvals first, then newest first", async () => {
    await using store = await open();
    await put(store.approvals, sample(1), sample(2, DECIDED), sample(3), sample(4, DECIDED), sample(5));
    const page = async (fields: Partial<ApprovalPage>) =>
      idsOf(await store.approvals.list({ limit: 10, now: 50, ...fields }));
    const all = [5, 3, 1, 4, 2].map(idOf);
    assert.deepEqual(await page({}), all);
    assert.deepEqual(await page({ limit: 2 }), all.slice(0, 2));
    for (const [index, after] of all.entries()) assert.deepEqual(await page({ after }), all.slice(index + 1));
    assert.deepEqual(await page({ after: idOf(6) }), []);
    assert.deepEqual(await page({ isPending: true }), all.slice(0, 3));
    assert.deepEqual(await page({ execution: certain(OTHER) }), []);
    assert.deepEqual(await page({ execution: certain(EXECUTION), isPending: true, limit: 1 }), [idOf(5)]);
  });

  test("waiting returns approvals until just before their expiry", async () => {
    await using store = await open();
    await put(store.approvals, sample(1));
    const { expiresAt } = sample(1);
    const waiting = (now: number) => store.approvals.list({ limit: 1, now, isPending: true });
    assert.deepEqual(idsOf(await waiting(expiresAt - 1)), [idOf(1)]);
    assert.deepEqual(await waiting(expiresAt), []);
  });

  test("waiting returns the approvals of one execution, the first to expire first", async () => {
    await using store = await open();
    await put(store.approvals, sample(3), sample(1), sample(2, DECIDED), sample(4, { execution: certain(OTHER) }));
    await put(store.approvals, sample(5, { principal: certain(GRACE) }), sample(6, { seq: 2, expiresAt: 103 }));
    const waiting = (now: number) => store.approvals.waiting(certain(EXECUTION), now);
    const [ada, grace] = [certain(ADA), certain(GRACE)];
    const later = [
      { id: idOf(6), principal: ada },
      { id: idOf(3), principal: ada },
      { id: idOf(5), principal: grace },
    ];
    assert.deepEqual(await waiting(100), [{ id: idOf(1), principal: ada }, ...later]);
    assert.deepEqual(await waiting(101), later);
  });

  test("forget removes old decided approvals, but not pending ones and the newest change", async () => {
    await using store = await open();
    await put(store.approvals, sample(1, DECIDED), sample(2), sample(3, DECIDED), sample(4, DECIDED));
    await store.approvals.forget(sample(3).expiresAt);
    assert.deepEqual(idsOf(await store.approvals.list({ limit: 9, now: 0 })), [2, 4, 3].map(idOf));
    await store.approvals.forget(1_000);
    assert.deepEqual(idsOf(await store.approvals.list({ limit: 9, now: 0 })), [2, 4].map(idOf));
  });
}

function describeChanges(open: OpenStore): void {
  test("change updates the approvals that the callback returns and returns them", async () => {
    await using store = await open();
    const { approvals } = store;
    await put(approvals, sample(1), sample(2, DECIDED));
    const decide = ({ state }: ApprovalHead) => (state === "pending" ? DECIDED : undefined);
    assert.deepEqual(await approvals.change({ kind: "one", id: idOf(1) }, decide), [headOf(sample(1, DECIDED))]);
    assert.deepEqual(await approvals.change({ kind: "one", id: idOf(1) }, decide), []);
    assert.deepEqual(await approvals.change({ kind: "one", id: idOf(3) }, decide), []);
    const taken = { state: "revoked" } as const;
    assert.deepEqual(await approvals.change({ kind: "one", id: idOf(2) }, () => taken), [headOf(sample(2, taken))]);
    assert.deepEqual(await approvals.find(idOf(2)), sample(2, taken));
  });

  test("change drops long arguments of decided approvals and keeps short ones", async () => {
    await using store = await open();
    const { approvals } = store;
    const kept = [-1, 0, 1].map((more) => new Uint8Array(KEPT_ARGUMENT_BYTES + more).fill(7));
    await put(approvals, ...kept.map((sealedArgs, index) => sample(index + 1, { sealedArgs })));
    const lengths = async () =>
      (await approvals.list({ limit: 9, now: 0 })).map(({ sealedArgs }) => sealedArgs.length).toSorted((a, b) => a - b);
    assert.deepEqual(
      await lengths(),
      kept.map(({ length }) => length),
    );
    await approvals.change({ kind: "execution", execution: certain(EXECUTION) }, () => DECIDED);
    assert.deepEqual(await lengths(), [0, KEPT_ARGUMENT_BYTES - 1, KEPT_ARGUMENT_BYTES]);
  });

  test("change selects alike approvals, those of an execution, and overdue ones", async () => {
    await using store = await open();
    const { approvals } = store;
    const tool = certain(parseToolAddress("shop.refund"));
    await put(approvals, sample(1, DECIDED), sample(2), sample(3, { principal: certain(GRACE) }), sample(4, { tool }));
    await put(approvals, sample(5, { execution: certain(OTHER) }), sample(6, DECIDED));
    const seen = async (selection: Parameters<ApprovalStore["change"]>[0]) => {
      const heads: ApprovalHead[] = [];
      await approvals.change(selection, (head) => void heads.push(head));
      return idsOf(heads);
    };
    assert.deepEqual(await seen({ kind: "alike", id: idOf(5) }), [5, 2].map(idOf));
    assert.deepEqual(await seen({ kind: "alike", id: idOf(1) }), [1, 2, 5].map(idOf));
    assert.deepEqual(await seen({ kind: "execution", execution: certain(OTHER) }), [idOf(5)]);
    assert.deepEqual(await seen({ kind: "due", now: sample(3).expiresAt }), [2, 3].map(idOf));
  });

  test("changes returns each change since a cursor once, in order", async () => {
    await using store = await open();
    const { approvals } = store;
    assert.deepEqual(await approvals.changes(), { changed: [], last: 0, dueAt: null });
    await put(approvals, sample(1), sample(2));
    const { last } = await approvals.changes();
    assert.deepEqual(await approvals.changes(last), { changed: [], last, dueAt: sample(1).expiresAt });
    await approvals.change({ kind: "one", id: idOf(2) }, () => DECIDED);
    await approvals.change({ kind: "one", id: idOf(1) }, () => DECIDED);
    const since = await approvals.changes(last);
    assert.deepEqual(idsOf(since.changed), [2, 1].map(idOf));
    assert.deepEqual(await approvals.changes(since.last), { changed: [], last: since.last, dueAt: null });
  });
}

function certain<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}
