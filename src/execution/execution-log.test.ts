/** How the opening of an execution gets to the disk: written at once, flushed before anything can leave. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { digestOf } from "../text/index.ts";
import { openLedger } from "../ledger/open-ledger.ts";
import { DEFAULT_LIMITS, parseExecutionId, parsePrincipalId } from "../domain/index.ts";
import type { ExecutionId, ExecutionResult } from "../domain/index.ts";
import { openUnlockedStore } from "../store/fixtures/sample-seal.ts";
import { closeExecution, createExecutionLog } from "./execution-log.ts";
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

async function openRecord() {
  const store = await openUnlockedStore({ path: ":memory:", now: () => 0 });
  const heads: number[] = [];
  const ledger = await openLedger({ store, now: () => 0, onAppended: ({ seq }) => heads.push(seq) });
  let [flushes, created] = [0, 0];
  const counted = {
    ...store,
    flush: () => {
      flushes += 1;
      return store.flush();
    },
  };
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
    store: counted,
    ledger,
    now: () => 0,
    createId: () => idOf((created += 1)),
    createSeed: () => [1, 2, 3, 4],
    owner: "me",
    hide,
    journals,
  };
  return { store, ledger, record: createExecutionLog(whole), heads, count: () => flushes };
}

it("open writes the opening without waiting for the disk or a signature", async () => {
  const { store, record, heads, count } = await openRecord();
  await record.open(REQUEST).opened;
  assert.deepEqual([(await store.executions.find(id))?.ending, (await store.ledger.last())?.seq], [null, 1]);
  assert.equal((await store.journals.read(id)).length, 1);
  assert.deepEqual([heads, count()], [[], 0]);
  await store.close();
});

it("durable flushes the opening once for all callers", async () => {
  const { store, record, count } = await openRecord();
  const opening = record.open(REQUEST);
  await Promise.all([opening.durable(), opening.durable()]);
  assert.deepEqual([(await store.ledger.last())?.seq, count()], [1, 1]);
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

it("durable rejects when the opening cannot be written", async () => {
  const { store, record, count } = await openRecord();
  await store.close();
  const opening = record.open(REQUEST);
  await assert.rejects(opening.durable(), { code: "STORE_UNAVAILABLE" });
  await assert.rejects(opening.opened, { code: "STORE_UNAVAILABLE" });
  assert.equal(count(), 0);
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

it("close makes the end and the opening durable", async () => {
  const { store, ledger, record, heads } = await openRecord();
  const { execution } = record.open(REQUEST);
  await record.close(execution, toResult(execution.id));
  assert.deepEqual([(await store.executions.find(id))?.ending?.state, heads.at(-1)], ["completed", 2]);
  await ledger.close();
  await store.close();
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
