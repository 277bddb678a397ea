/** How the opening and the end of an execution get to the disk: written at once, and flushed where something may change. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { digestOf } from "../text/index.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { DEFAULT_LIMITS, defined, parseExecutionId, parsePrincipalId } from "../domain/index.ts";
import type { ExecutionId, ExecutionResult } from "../domain/index.ts";
import { openUnlockedStore } from "../store/fixtures/sample-seal.ts";
import { closeExecution, createExecutionLog } from "./execution-log.ts";
import type { ExecutionDurability } from "./execution-log.ts";
import { NO_JOURNALS } from "./fixtures/durable.ts";
import { openJournals } from "./journal/open-journals.ts";
import { emptyResult } from "./settle.ts";

const idOf = (n: number) => parseExecutionId(`ex_${String(n).padStart(24, "0")}`) ?? assert.fail();
const id = idOf(1);
const agent = parsePrincipalId("agent") ?? assert.fail();
const REQUEST = {
  principal: { id: agent, kind: "agent", groups: [] },
  source: "return 1",
  limits: DEFAULT_LIMITS,
  signal: new AbortController().signal,
} as const;

const toResult = (execution: ExecutionId): ExecutionResult =>
  emptyResult({ id: execution }, "completed", { engine: "isolate", isolation: "process" });

async function openRecord(durability?: ExecutionDurability) {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const heads: number[] = [];
  const ledger = await openLedger({ store, now: () => 0, onAppended: ({ seq }) => heads.push(seq) });
  let created = 0;
  const hide = (text: string): string => text;
  const journals = openJournals({
    store: store.journals,
    seal: { close: (plain) => Buffer.from(plain), open: (sealed) => Buffer.from(sealed).toString() },
    now: () => 0,
    keepMs: 1,
    totalBytes: 1_000,
    executionBytes: 1_000,
  });
  const whole = {
    store,
    ledger,
    now: () => 0,
    createId: () => idOf((created += 1)),
    createSeed: () => [1, 2, 3, 4],
    owner: "me",
    hide,
    journals,
    ...defined({ durability }),
  };
  return { store, ledger, record: createExecutionLog(whole), heads };
}

it("open writes the opening without waiting for the disk or a signature", async () => {
  const { store, record, heads } = await openRecord();
  await record.open(REQUEST).opened;
  assert.deepEqual([(await store.executions.find(id))?.ending, (await store.ledger.last())?.seq], [null, 1]);
  assert.equal((await store.journals.read(id)).length, 1);
  assert.deepEqual(heads, []);
  await store.close();
});

it("with `always`, the opening is on disk before it counts as opened", async () => {
  const { store, record, heads } = await openRecord("always");
  await record.open(REQUEST).opened;
  assert.equal((await store.journals.read(id)).length, 1);
  assert.deepEqual(heads, [1]);
  const keyed = await record.openOnce(REQUEST, { key: "one", request: digestOf("one") });
  await ("opening" in keyed ? keyed.opening.opened : assert.fail());
  assert.deepEqual(heads, [1, 2]);
  await store.close();
});

it("openOnce stores the execution and its journal together, or neither when the key is taken", async () => {
  const { store, record } = await openRecord();
  const key = { key: "one", request: digestOf("one") };
  const [first, second] = await Promise.all([record.openOnce(REQUEST, key), record.openOnce(REQUEST, key)]);
  assert.ok("opening" in first && "holder" in second);
  const [{ id: held }, { id: refused }] = [first.opening.execution, { id: idOf(2) }];
  assert.deepEqual([second.holder.execution, (await store.journals.read(held)).length], [held, 1]);
  assert.deepEqual([await store.executions.find(refused), await store.journals.read(refused)], [undefined, []]);
  first.opening.journal.note({ kind: "broke" });
  await first.opening.journal.flush();
  assert.equal((await store.journals.read(held)).length, 2);
  await store.close();
});

it("opened rejects when the opening cannot be written", async () => {
  for (const durability of ["default", "always"] as const) {
    const { store, record, heads } = await openRecord(durability);
    await store.close();
    await assert.rejects(record.open(REQUEST).opened, { code: "STORE_UNAVAILABLE" });
    assert.deepEqual(heads, []);
  }
});

it("close writes to the store before the ledger, so that a kill loses no result", async () => {
  const { store, record } = await openRecord();
  const { execution, opened } = record.open(REQUEST);
  await opened;
  const asked: string[] = [];
  const append: typeof store.ledger.append = (...given) => {
    asked.push("ledger");
    return store.ledger.append(...given);
  };
  const close: typeof store.executions.close = (...given) => {
    asked.push("store");
    return store.executions.close(...given);
  };
  const ledger = await openLedger({ store: { ...store, ledger: { ...store.ledger, append } }, now: () => 0 });
  const options = { store: { executions: { close } }, ledger, now: () => 0 };
  await closeExecution(execution, toResult(execution.id), options);
  assert.deepEqual(asked, ["store", "ledger"]);
  await ledger.close();
  await store.close();
});

/** Which head is on disk when `close` resolves: the second record is the end, and 0 means none. */
async function closeWith(durability: ExecutionDurability, result: Partial<ExecutionResult>): Promise<number> {
  const { store, ledger, record, heads } = await openRecord(durability);
  const { execution } = record.open(REQUEST);
  await record.close(execution, { ...toResult(execution.id), ...result });
  const reached = heads.at(-1) ?? 0;
  const { state = "completed" } = result;
  assert.equal((await store.executions.find(id))?.ending?.state, state);
  await store.ledger.flushed();
  assert.equal(heads.at(-1), 2, "the end is announced once it is on disk");
  await ledger.close();
  await store.close();
  return reached;
}

const READ = { seq: 1, tool: "a.read", effect: "read", decision: "allow", outcome: "ok", ms: 1 } as const;

it("with `always`, close makes the end and the opening durable", async () => {
  assert.equal(await closeWith("always", {}), 2);
  assert.equal(await closeWith("always", { calls: [READ] }), 2);
});

it("close does not wait for the disk when the program made no call, or only reads that no person was asked for", async () => {
  assert.equal(await closeWith("default", {}), 0);
  assert.equal(await closeWith("default", { calls: [READ, { ...READ, seq: 2, outcome: "error" }] }), 0);
});

it("close makes the end and the opening durable when a call may have changed something or needed approval", async () => {
  for (const call of [
    { ...READ, effect: "write" },
    { ...READ, effect: "destroy" },
    { ...READ, effect: "unknown", outcome: "unknown" },
    { ...READ, decision: "ask" },
    { ...READ, decision: "deny", outcome: "denied" },
  ] as const)
    assert.equal(await closeWith("default", { calls: [READ, call] }), 2, JSON.stringify(call));
});

it("close makes a suspended execution durable", async () => {
  assert.equal(await closeWith("default", { state: "paused" }), 2);
});

it("refuse writes ten records of a principal in a minute, then one with the number of the others", async () => {
  const { store, ledger } = await openRecord();
  let at = 0;
  const whole = { store, ledger, now: () => at, createId: () => id, createSeed: () => [1], owner: "me" };
  const record = createExecutionLog({ ...whole, hide: (text) => text, journals: NO_JOURNALS });
  const error = { code: "LIMIT_QUOTA", message: "used up", retry: true } as const;
  const refuse = (principal = REQUEST.principal) =>
    record.refuse({ ...REQUEST, principal }, { ...toResult(id), state: "failed", error });
  const details = async () => (await store.ledger.search({ limit: 99 })).map(({ detail }) => JSON.parse(detail));
  for (let n = 0; n < 10; n += 1) await refuse();
  assert.equal((await details()).length, 10);
  await refuse();
  assert.equal((await details()).length, 10);
  await refuse({ ...REQUEST.principal, id: parsePrincipalId("other") ?? assert.fail() });
  assert.equal((await details()).length, 11, "another principal has its own count");
  at = 59_999;
  await refuse();
  assert.equal((await details()).length, 11);
  at = 60_000;
  await refuse();
  assert.deepEqual((await details())[0], { source: digestOf("return 1"), code: "LIMIT_QUOTA", unrecorded: 2 });
  await refuse();
  assert.deepEqual((await details())[0], { source: digestOf("return 1"), code: "LIMIT_QUOTA" });
  await store.close();
});
