/** What a power cut leaves: all that belongs to changes, and reads that were answered before the last flush. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { runGlovebox } from "../../fixtures/product.ts";
import { answersBeforeFlush, hasEnd, openFlushedGateway, readDisk, untilOnDisk } from "./flushed-gateway.ts";

const READ = "return await probe.echo({ n: 1 })";
const CHANGE = "await probe.echo({ n: 1 }); await probe.echo({ n: 2 }); return await probe.change({})";
const TRIVIAL = "return 1";

test("a change leaves only after its intent, its opening and all that the program saw are on disk", async () => {
  await using gateway = await openFlushedGateway();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    await gateway.execute(READ);
    const { result, disk } = await gateway.execute(CHANGE);
    assert.equal(result.state, "completed");
    ids.push(result.execution);
    assert.ok(hasEnd(readDisk(disk), result.execution), "the end is on disk when a change is answered");
  }
  const changes = gateway.changes();
  assert.equal(changes.length, 5);
  for (const [at, disk] of changes.entries()) {
    const { ledger, journals } = readDisk(disk);
    const id = ids[at] ?? assert.fail();
    const opened = ledger.indexOf(`execution.opened ${id}`);
    const mine = ledger.slice(opened);
    assert.ok(opened >= 0, "the opening is on disk when the change arrives");
    assert.equal(mine.filter((one) => one === "call.intended probe.echo").length, 2);
    assert.equal(mine.filter((one) => one === "call.intended probe.change").length, 1);
    assert.ok((journals.get(id) ?? 0) >= 2, "the request and the deliveries are on disk");
  }
});

test("an execution that only read is answered without waiting for the disk, and on disk a moment later", async () => {
  await using gateway = await openFlushedGateway();
  assert.equal(await answersBeforeFlush(gateway), true);
  for (const code of [READ, TRIVIAL]) {
    const { result } = await gateway.execute(code);
    await untilOnDisk(gateway, result.execution);
  }
});

test("with `always`, nothing that was answered is missing after a power cut", async () => {
  await using gateway = await openFlushedGateway({ store: { durability: "always" } });
  assert.equal(await answersBeforeFlush(gateway), false);
  const answered: string[] = [];
  for (const code of [TRIVIAL, READ, CHANGE, READ, TRIVIAL]) {
    const { result, disk } = await gateway.execute(code);
    answered.push(result.execution);
    const records = readDisk(disk);
    for (const id of answered) assert.ok(hasEnd(records, id), `${code} ${id}`);
  }
});

test("after a power cut the records are those up to the last flush, the ledger verifies, and work continues", async () => {
  await using gateway = await openFlushedGateway();
  const changed: string[] = [];
  for (let n = 0; n < 3; n += 1) changed.push((await gateway.execute(CHANGE)).result.execution);
  const flushed = (await gateway.execute(READ)).result.execution;
  await untilOnDisk(gateway, flushed);
  const last: string[] = [];
  for (let n = 0; n < 10; n += 1) last.push((await gateway.execute(READ)).result.execution);
  const disk = gateway.disk();
  const left = readDisk(disk);
  await using next = await gateway.cutPower(disk);
  for (const id of [...changed, flushed]) assert.ok(hasEnd(left, id), id);
  const lost = last.filter((id) => !hasEnd(left, id));
  assert.deepEqual(lost, last.slice(last.length - lost.length), "only the latest executions are missing");
  const { result } = await next.execute(CHANGE);
  await untilOnDisk(next, result.execution);
  const now = readDisk(next.disk());
  assert.deepEqual(now.ledger.slice(0, left.ledger.length), left.ledger);
  await next.kill();
  assert.deepEqual(await Promise.all([gateway.verify(), next.verify()]), [undefined, undefined]);
});

test("a suspended execution is on disk before its client is told, and resumes after a power cut", async () => {
  const policy = { rules: [{ decision: "ask", tools: ["probe.change"] }] };
  await using gateway = await openFlushedGateway({ policy });
  const { result, disk } = await gateway.execute(CHANGE);
  assert.equal(result.state, "paused");
  const { executions, approvals, journals } = readDisk(disk);
  assert.deepEqual([executions.get(result.execution), approvals], ["paused", 1]);
  assert.ok((journals.get(result.execution) ?? 0) >= 2);
  await using next = await gateway.cutPower(disk);
  assert.deepEqual(gateway.changes(), []);
  const { code } = await runGlovebox(["approve", `${result.approvals?.[0]}`, "--yes"], { folder: next.folder });
  assert.equal(code, 0);
  let view = await next.resume(result.execution);
  for (; view.state !== "completed"; view = await next.resume(result.execution)) await wait(50);
  assert.deepEqual([view.value, gateway.changes().length], [{ done: true }, 1]);
});
