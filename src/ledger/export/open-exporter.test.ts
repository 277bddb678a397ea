/** Continuous exports deliver at least once and in order, after failures and restarts, without delaying writers. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { parseDigest } from "../../domain/index.ts";
import type { Digest, JsonObject } from "../../domain/index.ts";
import { openMessageLine } from "../../egress/index.ts";
import { openStore } from "../../store/index.ts";
import type { Store } from "../../store/index.ts";
import { parseLedgerLine, verifyExport } from "../index.ts";
import { openLedger } from "../open-ledger.ts";
import { SIGNER, STRANGER, makeFolder } from "../signing/fixtures/signed-store.ts";
import { toStatementText } from "../statement.ts";
import { openLedgerExporter } from "./open-exporter.ts";
import type { LedgerExporter, Sink } from "./open-exporter.ts";
import { openFileSink } from "./open-file-sink.ts";
import { createSyslogSink } from "./to-syslog.ts";

const { folder, remove } = makeFolder();
after(remove);
const TIMES = { pollMs: 5, firstPauseMs: 1, longestPauseMs: 8, sendMs: 200, closeMs: 200 };

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}`);

async function append(store: Store, count: number): Promise<void> {
  await using ledger = await openLedger({ store, now: () => 7 });
  const entry = { actor: "a", action: "call.ended", subject: "s", detail: { outcome: "ok" } };
  await Promise.all(Array.from({ length: count }, () => ledger.write(entry)));
}

const open = (store: Store, sink: Sink, holder = "me", hasEnded = (_holder: string) => false): LedgerExporter =>
  openLedgerExporter({ store, sinks: [sink], holder, hasEnded, now: Date.now, times: TIMES });
/** Sends all records and closes, however long that takes on a busy machine. */
const sendAll = (store: Store, sink: Sink): PromiseLike<void> => {
  const times = { ...TIMES, sendMs: 60_000, closeMs: 60_000 };
  const all = { store, sinks: [sink], holder: "me", hasEnded: () => false, now: Date.now, times };
  return openLedgerExporter(all)[Symbol.asyncDispose]();
};

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await wait(2);
}

/** A sink in memory that fails a given number of times. */
function createPlace(failures = 0): { readonly sink: Sink; readonly numbers: unknown[]; readonly tries: () => number } {
  const numbers: unknown[] = [];
  let tries = 0;
  const send = async (records: readonly JsonObject[]): Promise<void> => {
    tries += 1;
    if (tries <= failures) throw new Error("away \u001b[31m for now");
    numbers.push(...records.map(({ seq }) => seq));
  };
  return { sink: { id: "memory:a", send, close: async () => undefined }, numbers, tries: () => tries };
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

describe("openLedgerExporter", () => {
  test("sends existing and new records in order, including those of another process", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const { sink, numbers } = createPlace();
    await append(store, 1_200);
    await using _exporter = open(store, sink);
    await until(() => numbers.length === 1_200);
    await append(store, 3);
    await until(() => numbers.length === 1_203);
    assert.deepEqual(numbers, upTo(1_203));
  });

  test("retries after failures, stores the reason, and loses no record", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const { sink, numbers, tries } = createPlace(5);
    await append(store, 3);
    await using _exporter = open(store, sink);
    await until(async () => (await store.exports.list())[0]?.failure === "away for now");
    await until(() => numbers.length === 3);
    assert.deepEqual([numbers, tries()], [upTo(3), 6]);
    await until(async () => (await store.exports.list())[0]?.failure === null);
  });

  test("sends a record only after a flush that began when it was in the store", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const { sink, numbers } = createPlace();
    await append(store, 3);
    const batches: unknown[][] = [];
    const send: Sink["send"] = async (records, signal) => {
      batches.push(records.map(({ seq }) => seq));
      await sink.send(records, signal);
    };
    // The first claim is flushed before these two records are written.
    let isFirst = true;
    const claim: Store["exports"]["claim"] = async (lease) => {
      const row = await store.exports.claim(lease);
      if (isFirst) await append(store, 2);
      isFirst = false;
      return row;
    };
    await sendAll({ ...store, exports: { ...store.exports, claim } }, { ...sink, send });
    assert.deepEqual(batches[0], upTo(3));
    assert.deepEqual(numbers, upTo(5));
  });

  test("continues from its cursor after a restart", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const [one, two] = [createPlace(), createPlace()];
    await append(store, 3);
    await open(store, one.sink)[Symbol.asyncDispose]();
    await append(store, 2);
    await open(store, two.sink)[Symbol.asyncDispose]();
    assert.deepEqual(
      [one.numbers, two.numbers],
      [
        [1, 2, 3],
        [4, 5],
      ],
    );
  });

  test("sends each record from only one of two processes", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const [one, two] = [createPlace(), createPlace()];
    await using _first = open(store, one.sink, "first");
    await append(store, 3);
    await until(() => one.numbers.length === 3);
    await using _second = open(store, two.sink, "second");
    await append(store, 3);
    await until(() => one.numbers.length === 6);
    assert.deepEqual([one.numbers, two.numbers], [upTo(6), []]);
  });

  test("lets another process send once the first one has closed or died", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const [one, two, three] = [createPlace(), createPlace(), createPlace()];
    await append(store, 1);
    await open(store, one.sink, "first")[Symbol.asyncDispose]();
    await append(store, 1);
    await open(store, two.sink, "second")[Symbol.asyncDispose]();
    await store.exports.claim({ id: one.sink.id, holder: "killed", now: Date.now(), until: Date.now() + 60_000 });
    await append(store, 1);
    await open(store, three.sink, "third")[Symbol.asyncDispose]();
    assert.deepEqual([one.numbers, two.numbers, three.numbers], [[1], [2], []]);
    await open(store, three.sink, "fourth", (holder) => holder === "killed")[Symbol.asyncDispose]();
    assert.deepEqual(three.numbers, [3]);
  });

  test("delays neither writers nor closing when a sink never answers", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    let asked = 0;
    const send = (_records: readonly JsonObject[], signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => {
        asked += 1;
        signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
      });
    const exporter = open(store, { id: "never", send, close: async () => undefined });
    await append(store, 1);
    await until(() => asked > 0);
    await append(store, 50);
    await exporter[Symbol.asyncDispose]();
    assert.equal((await store.ledger.last())?.seq, 51);
    assert.equal((await store.exports.list())[0]?.cursor, 0);
  });

  test("writes nothing to the store while there is nothing to send", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    await using _exporter = open(store, createPlace().sink);
    await wait(50);
    assert.deepEqual(await store.exports.list(), []);
  });
});

describe("openFileSink", () => {
  const judge = (path: string) =>
    verifyExport(readFileSync(path, "utf8").trimEnd().split("\n").map(parseLedgerLine), SIGNER.key);
  const sinkOf = (path: string, store: Store): Sink =>
    openFileSink({ id: `file:${path}`, path, signer: SIGNER, now: () => 7, store });

  test("writes whole batches that verify, and repairs an incomplete or repeated batch", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const path = newPath();
    await append(store, 600);
    await sendAll(store, sinkOf(path, store));
    assert.deepEqual(await judge(path), { ok: true, records: 600, signed: 600, key: SIGNER.key });
    appendFileSync(path, `{"action":"${"torn".repeat(5_000)}`);
    await append(store, 5);
    await sendAll(store, sinkOf(path, store));
    assert.deepEqual(await judge(path), { ok: true, records: 605, signed: 605, key: SIGNER.key });
    const [row] = await store.exports.list();
    assert.ok(row);
    await store.exports.note({ ...row, cursor: 590 });
    await append(store, 1);
    await sendAll(store, sinkOf(path, store));
    assert.deepEqual(await judge(path), { ok: true, records: 606, signed: 606, key: SIGNER.key });
    truncateSync(path, readFileSync(path).length - 10);
    assert.equal((await judge(path)).ok, false);
  });

  test("leaves a file with a foreign or wrong trailer unchanged and does not move the cursor", async () => {
    const digest = `sha256:${"0".repeat(64)}` as Digest;
    const span = { kind: "trailer", first: 1, previous: digest, count: 2, at: 7 } as const;
    for (const [name, sign] of [
      ["of another key", async (last: Digest) => STRANGER.sign({ ...span, seq: 2, digest: last })],
      ["about another ledger", async () => SIGNER.sign({ ...span, seq: 2, digest })],
      ["beyond the end", async (last: Digest) => SIGNER.sign({ ...span, seq: 900, digest: last })],
      ["without the records", async (last: Digest) => SIGNER.sign({ ...span, seq: 2, digest: last })],
    ] as const) {
      await using store = await openStore({ path: ":memory:", now: () => 7 });
      const path = newPath();
      await append(store, 2);
      const text = `${toStatementText(await sign(parseDigest((await store.ledger.last())?.digest) ?? digest))}\n`;
      writeFileSync(path, text);
      await sendAll(store, sinkOf(path, store));
      const [row] = await store.exports.list();
      assert.deepEqual([row?.cursor, readFileSync(path, "utf8")], [0, text], name);
      assert.match(row?.failure ?? "", /is not an export of this ledger/, name);
    }
  });

  test("leaves a file with other content unchanged and reports it", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    const path = newPath();
    writeFileSync(path, "precious\n");
    await append(store, 1);
    await sendAll(store, sinkOf(path, store));
    assert.equal(readFileSync(path, "utf8"), "precious\n");
    assert.match((await store.exports.list())[0]?.failure ?? "", /is not an export of this ledger/);
  });
});

describe("createSyslogSink over TCP", () => {
  test("frames messages by octet count and reconnects when the receiver is back", async () => {
    await using store = await openStore({ path: ":memory:", now: () => 7 });
    let received = "";
    const sockets = new Set<Socket>();
    const listen = (port: number) => {
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => undefined).on("data", (chunk: Buffer) => (received += chunk.toString()));
      });
      return new Promise<typeof server>((ready) => server.listen(port, "127.0.0.1", () => ready(server)));
    };
    const stop = async (server: Awaited<ReturnType<typeof listen>>): Promise<void> => {
      for (const socket of sockets) socket.resetAndDestroy();
      await new Promise((closed) => server.close(closed));
    };
    const first = await listen(0);
    const { port } = first.address() as AddressInfo;
    const line = openMessageLine({ transport: "tcp", host: "127.0.0.1", port });
    const sink = createSyslogSink("syslog:a", line, { host: "here", pid: 1 });
    await using _exporter = open(store, sink);
    await append(store, 1);
    await until(() => /seq="1"/.test(received));
    assert.match(
      received,
      /^\d+ <110>1 1970-01-01T00:00:00\.007Z here glovebox 1 call\.ended \[ledger@32473 seq="1" actor="a" subject="s" digest="sha256:/,
    );
    const space = received.indexOf(" ");
    const [length, rest] = [received.slice(0, space), received.slice(space + 1)];
    assert.equal(Buffer.byteLength(rest), Number(length));
    await stop(first);
    await until(async () => {
      await append(store, 1);
      return (await store.exports.list())[0]?.failure !== null;
    });
    const second = await listen(port);
    const last = (await store.ledger.last())?.seq ?? 0;
    await until(() => received.includes(`seq="${last}"`));
    await stop(second);
  });
});
