/**
 * A store that an earlier version wrote, with every kind of record: the present version opens it with the clock of its
 * day, resumes and recovers what was unfinished, and comes to the values that the earlier version came to.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { Client } from "@modelcontextprotocol/client";

import { EXPECTED, at, objectAt, openCopy, textAt, textsAt } from "./open-copy.ts";
import type { StoreCopy, RunningGateway } from "./open-copy.ts";

const PATIENCE_MS = 60_000;
const WEEK_MS = 604_800_000;
const HOUR_MS = 3_600_000;
const SECRET = "fixture-desk-token-7c21e0";
const PENDING = ["undecided", "parallel"];

/** The approvals that no person had decided when the fixture was written. */
const pendingIds = (): readonly string[] =>
  [...PENDING.flatMap((name) => textsAt(EXPECTED, "suspended", name, "approvals")), ...flowIds()].toSorted();
const flowIds = (): readonly string[] => textsAt(EXPECTED, "flow", "approvals");
const idOf = (kind: string, name: string): string => textAt(EXPECTED, kind, name, "execution");

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const listPending = async (copy: StoreCopy): Promise<readonly unknown[]> => {
  const approvals = at(await copy.read("approvals", "--json"), "approvals");
  return Array.isArray(approvals) ? approvals : assert.fail("It prints no approvals");
};

/** Replaces bytes of one file with the same number of other bytes. */
function overwrite(file: string, from: string, to: string): void {
  const bytes = readFileSync(file, "latin1");
  assert.ok(bytes.includes(from) && from.length === to.length, `${file} does not have ${from}`);
  writeFileSync(file, bytes.replaceAll(from, to), "latin1");
}

const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<unknown> =>
  (await client.callTool({ name, arguments: args })).structuredContent;

const execute = (client: Client, code: string): Promise<unknown> => call(client, "execute", { code });

/** Polls as a client does, until the execution has ended. */
async function untilEnded(client: Client, execution: string): Promise<unknown> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await wait(50)) {
    const view = await call(client, "resume", { execution, detail: "full" });
    if (!["paused", "running"].includes(textAt(view, "state"))) return view;
  }
  return assert.fail(`${execution} does not end`);
}

/** All that a version may not change. Messages of errors may get other words; their codes may not. */
function summarize(view: unknown): unknown {
  const pick = (list: unknown, ...names: readonly string[]): readonly string[] =>
    Array.isArray(list) ? list.map((one: unknown) => names.map((name) => at(one, name)).join(" ")) : [];
  return {
    state: at(view, "state"),
    value: JSON.stringify(at(view, "value")),
    code: at(view, "error", "code"),
    logs: pick(at(view, "logs"), "level", "text"),
    calls: pick(at(view, "calls"), "seq", "tool", "effect", "decision", "outcome"),
  };
}

describe("the ledger of an old store", () => {
  test("verifies in the store, from its cut to its end, with the public key of that time", async () => {
    await using copy = openCopy();
    const verdict = await copy.read("audit", "verify", "--key", textAt(EXPECTED, "publicKey"), "--json");
    assert.deepEqual(
      [at(verdict, "ok"), at(verdict, "signed"), at(verdict, "key")],
      [true, at(EXPECTED, "records"), at(EXPECTED, "publicKey")],
    );
    assert.ok(Number(at(verdict, "first")) > 1, "the fixture has a cut");
  });

  test("verifies in the export that the earlier version wrote", async () => {
    await using copy = openCopy();
    const verdict = await copy.read(
      "audit",
      "verify",
      "ledger.jsonl",
      "--key",
      textAt(EXPECTED, "publicKey"),
      "--json",
    );
    assert.deepEqual([at(verdict, "ok"), at(verdict, "signed")], [true, at(EXPECTED, "records")]);
  });

  test("the ledger of an old store is exported with the same bytes again, apart from the signature of the end", async () => {
    await using copy = openCopy();
    const { stdout } = await copy.run(["audit", "export"]);
    const records = (text: string): readonly string[] => text.trim().split("\n").slice(0, -1);
    assert.deepEqual(records(stdout), records(readFileSync(join(copy.folder, "ledger.jsonl"), "utf8")));
  });

  test("the ledger of an old store does not verify when bytes of one record in the store were changed", async () => {
    await using copy = openCopy();
    overwrite(join(copy.folder, "store/glovebox.db"), "agreed with Ada", "agreed with Eve");
    const { code, stdout } = await copy.run(["audit", "verify", "--json"]);
    assert.deepEqual([code, at(JSON.parse(stdout), "ok")], [1, false]);
  });

  test("the ledger of an old store does not verify when bytes of one record in the export were changed", async () => {
    await using copy = openCopy();
    overwrite(join(copy.folder, "ledger.jsonl"), "agreed with Ada", "agreed with Eve");
    const { code, stdout } = await copy.run(["audit", "verify", "ledger.jsonl", "--json"]);
    assert.deepEqual([code, at(JSON.parse(stdout), "ok")], [1, false]);
  });
});

describe("the approvals of an old store", () => {
  test("the approvals of an old store are listed with their arguments while they are pending", async () => {
    await using copy = openCopy();
    const pending = await listPending(copy);
    assert.deepEqual(pending.map((one) => textAt(one, "id")).toSorted(), pendingIds());
    const paid = pending.filter((one) => at(one, "tool") === "desk.pay").map((one) => String(at(one, "args", "n")));
    assert.deepEqual(paid.toSorted(), ["1", "51", "52", "53"]);
  });

  test("the approvals of an old store are still pending an hour before a week is over", async () => {
    await using copy = openCopy({ laterMs: WEEK_MS - HOUR_MS });
    assert.equal((await listPending(copy)).length, pendingIds().length);
  });

  test("the approvals of an old store have expired when a week is over, so the clock of the fixture is what keeps them", async () => {
    await using copy = openCopy({ laterMs: WEEK_MS + HOUR_MS });
    assert.deepEqual(await listPending(copy), []);
    const { code, stderr } = await copy.run(["approve", pendingIds()[0] ?? "", "--yes"]);
    assert.equal(code, 1);
    assert.match(stderr, /REQUEST_CONFLICT/);
  });

  test("let the command line resume an execution where no gateway runs", async () => {
    await using copy = openCopy();
    const resumed = await copy.read("executions", "resume", idOf("suspended", "approved"), "--json");
    assert.deepEqual(summarize(resumed), summarize(at(EXPECTED, "resumed", "approved")));
    assert.deepEqual(copy.calls(), ["desk.pay 2"]);
  });
});

describe("the secrets of an old store", () => {
  test("the secrets of an old store are listed by name and version with the key file of that time", async () => {
    await using copy = openCopy();
    const secrets = at(await copy.read("secrets", "--json"), "secrets");
    assert.deepEqual([at(secrets, 0, "name"), at(secrets, 0, "version")], ["DESK_TOKEN", 2]);
    assert.match(textAt(secrets, 1, "name"), /^oauth_[0-9a-f]{64}$/);
  });

  test("the secrets of an old store are refused with another key file, and stay as they are", async () => {
    await using copy = openCopy();
    const file = join(copy.folder, "store/glovebox.key");
    const key = readFileSync(file, "utf8");
    writeFileSync(file, `${sha256("another key")}\n`);
    const { code, stderr } = await copy.run(["run", "-"], "return 1");
    assert.deepEqual([code, stderr.includes("CONFIG_INVALID")], [2, true], stderr);
    writeFileSync(file, key);
    assert.equal((await copy.run(["run", "-"], "return 1")).code, 0);
  });
});

describe("an execution export of an earlier version", () => {
  const replayAlone = async (text: string, ...flags: readonly string[]): Promise<readonly [number | null, unknown]> => {
    await using copy = openCopy();
    const folder = mkdtempSync(join(tmpdir(), "glovebox-old-store-"));
    const file = join(folder, "recording.json");
    writeFileSync(file, text);
    const { code, stdout } = await copy.run(["executions", "replay", file, "--json", ...flags]);
    rmSync(folder, { recursive: true });
    return [code, stdout === "" ? undefined : JSON.parse(stdout)];
  };
  const recording = readFileSync("test/fixtures/old-store/recording.json", "utf8");

  for (const engine of ["isolate", "quickjs"])
    test(`an execution export of an earlier version is replayed on the engine ${engine} with the same bytes`, async () => {
      const [code, replayed] = await replayAlone(recording, "--engine", engine);
      assert.deepEqual([code, at(replayed, "same")], [0, true]);
      assert.deepEqual(summarize(at(replayed, "result")), summarize(at(EXPECTED, "ended", "order")));
    });

  test("an execution export of an earlier version is refused when an answer in it was changed", async () => {
    const [code, replayed] = await replayAlone(recording.replace("number 1", "number 9"));
    assert.notEqual(recording, recording.replace("number 1", "number 9"));
    assert.deepEqual([code, at(replayed, "same")], [2, undefined]);
  });

  test("an execution export of an earlier version is replayed from the store, too", async () => {
    await using copy = openCopy();
    const replayed = await copy.read("executions", "replay", idOf("ended", "order"), "--json");
    assert.equal(at(replayed, "same"), true);
    assert.deepEqual(summarize(at(replayed, "result")), summarize(at(EXPECTED, "ended", "order")));
    assert.deepEqual(copy.calls(), []);
  });
});

describe("a gateway on an old store", () => {
  const stack = new AsyncDisposableStack();
  const syslog = createSocket("udp4");
  const sent: string[] = [];
  let copy: StoreCopy;
  let gateway: RunningGateway;

  before(async () => {
    syslog.on("message", (message) => sent.push(message.toString()));
    syslog.bind(5514, "127.20.26.7");
    await once(syslog, "listening");
    stack.defer(() => void syslog.close());
    copy = stack.use(openCopy());
    await copy.startNotes();
    gateway = await copy.serve();
  });
  after(() => stack.disposeAsync());

  for (const [name, what] of [
    ["approved", "resumes an execution that was approved while no gateway ran"],
    ["rejected", "ends an execution whose approval was rejected while no gateway ran"],
    ["caught", "lets a program catch the rejection of its approval and read the reason"],
    ["stale", "ends an execution whose approval was revoked"],
    ["changed", "ends an execution that used a tool whose definition has changed"],
    ["away", "resumes an execution that waited for an unavailable upstream"],
    ["recovered", "recovers an execution that ran when its gateway was killed"],
    ["unknown", "ends an execution that was killed during a call which changes something"],
  ] as const)
    test(what, async () => {
      const kind = at(EXPECTED, "suspended", name) === undefined ? "killed" : "suspended";
      const view = await untilEnded(gateway.session, idOf(kind, name));
      assert.deepEqual(summarize(view), summarize(at(EXPECTED, "resumed", name)));
      if (name === "rejected") assert.match(textAt(view, "error", "message"), /desk\.pay.*the amount is wrong/);
      if (name === "unknown") assert.match(textAt(view, "error", "message"), /desk\.push \(call 2\)/);
    });

  test("cancels a recovered execution whose cancellation the killed gateway did not see", async () => {
    const view = await untilEnded(gateway.session, idOf("killed", "unheard"));
    assert.deepEqual([at(view, "state"), at(view, "error", "code")], ["cancelled", "REQUEST_CANCELLED"]);
  });

  test("seals what the earlier version stored in clear while it runs, and still shows it", async () => {
    const files = ["", "-wal"].map((end) => join(copy.folder, `store/glovebox.db${end}`));
    // Every stored result has this word, and no record of the ledger has it.
    const isClear = (): boolean => files.some((file) => readFileSync(file).includes("peakMemoryBytes"));
    assert.ok(readFileSync("test/fixtures/old-store/store/glovebox.db").includes("peakMemoryBytes"));
    for (const deadline = performance.now() + PATIENCE_MS; isClear(); await wait(50))
      assert.ok(performance.now() < deadline, "It stays in clear");
    const shown = await copy.read("executions", "show", idOf("ended", "order"), "--json");
    assert.deepEqual(summarize(at(shown, "result")), summarize(at(EXPECTED, "ended", "order")));
  });

  test("resumes an execution once its approval is granted", async () => {
    const id = textAt(EXPECTED, "suspended", "undecided", "approvals", 0);
    const paused = await call(gateway.session, "resume", { execution: idOf("suspended", "undecided") });
    assert.deepEqual([at(paused, "state"), at(paused, "approvals")], ["paused", [id]]);
    assert.equal((await copy.run(["approve", id, "--yes"])).code, 0);
    const view = await untilEnded(gateway.session, idOf("suspended", "undecided"));
    assert.deepEqual(summarize(view), summarize(at(EXPECTED, "resumed", "undecided")));
  });

  test("resumes an execution with three parallel approvals after two were granted and one was rejected", async () => {
    const [one = "", two = "", three = ""] = textsAt(EXPECTED, "suspended", "parallel", "approvals");
    for (const args of [
      ["approve", one, "--yes"],
      ["approve", two, "--yes"],
      ["reject", three],
    ])
      assert.equal((await copy.run(args)).code, 0);
    const view = await untilEnded(gateway.session, idOf("suspended", "parallel"));
    assert.deepEqual(summarize(view), summarize(at(EXPECTED, "resumed", "parallel")));
  });

  test("makes every call of resumed and recovered executions once, and repeats no answered call", () => {
    const expected = ["pay 1", "pay 2", "pay 51", "pay 52", "hang 40"].map((line) => `desk.${line}`);
    // The read of the cancelled execution is repeated if recovery is faster than the cancellation.
    const made = copy.calls().filter((line) => line !== "desk.wait 42");
    assert.deepEqual(made, ["away.take 7", ...expected].toSorted());
  });

  test("asks again about a data flow of a client without sessions, and not of a client with a new session", async () => {
    const code = "return await desk.post({ n: Math.round(31) })";
    assert.equal(at(await execute(gateway.sessionless, code), "state"), "paused");
    assert.deepEqual(at(await execute(gateway.session, code), "value"), { n: 341 });
    const [id = ""] = flowIds();
    assert.equal((await copy.run(["approve", id, "--yes"])).code, 0);
    const view = await untilEnded(gateway.sessionless, textAt(EXPECTED, "flow", "execution"));
    assert.deepEqual(summarize(view), summarize(at(EXPECTED, "resumed", "flow")));
  });

  test("applies a remembered decision, and not one that was revoked", async () => {
    const pay = (n: number): Promise<unknown> => execute(gateway.sessionless, `return await desk.pay({ n: ${n} })`);
    assert.deepEqual(at(await pay(22), "value"), { n: 154 });
    assert.equal(at(await pay(23), "state"), "paused");
  });

  test("returns every ended execution as it was stored", async () => {
    for (const name of Object.keys(objectAt(EXPECTED, "ended"))) {
      const { request: _, ...stored } = objectAt(EXPECTED, "ended", name);
      assert.deepEqual(
        await call(gateway.session, "resume", { execution: idOf("ended", name), detail: "full" }),
        stored,
        name,
      );
    }
  });

  test("answers a request with an old idempotency key with the old result, and refuses the key for another", async () => {
    const { request: _, ...stored } = objectAt(EXPECTED, "ended", "order");
    const send = (kind: string, name: string): Promise<unknown> =>
      call(gateway.session, "execute", { ...objectAt(EXPECTED, kind, name, "request"), detail: "full" });
    const before = copy.calls();
    assert.deepEqual(await send("ended", "order"), stored);
    assert.deepEqual(summarize(await send("killed", "recovered")), summarize(at(EXPECTED, "resumed", "recovered")));
    const other = await call(gateway.session, "execute", { code: "return 1", idempotencyKey: "order-1" });
    assert.equal(at(other, "error", "code"), "REQUEST_CONFLICT");
    assert.deepEqual(copy.calls(), before);
  });

  test("reads kept results by their handles", async () => {
    const handle = textAt(EXPECTED, "ended", "large", "truncated", "handle");
    const page = await call(gateway.session, "resume", { handle, offset: 199 });
    assert.deepEqual(at(page, "value"), [{ n: 199, text: "line 199 of a result that is too large" }]);
    const file = textAt(EXPECTED, "ended", "picture", "value", 0, "handle");
    const picture = await execute(gateway.session, `return await glovebox.results.read("${file}")`);
    assert.deepEqual(at(picture, "value"), { mimeType: "image/png", bytes: 8, base64: "iVBORw0KGgo=" });
  });

  test("declares the types that were learned from results", async () => {
    const described = await call(gateway.session, "describe", { names: ["desk.look"], detail: "full" });
    assert.match(textAt(described, "declarations"), /label: string/);
  });

  test("counts calls of that time against a quota", async () => {
    const refused = await execute(gateway.session, "return await desk.rated({ n: 9 })");
    assert.equal(at(refused, "error", "code"), "LIMIT_QUOTA");
  });

  test("lends secrets and login tokens of the vault to upstreams", async () => {
    const lent = await execute(gateway.session, "return [await desk.token({ n: 1 }), await notes.list({})]");
    assert.deepEqual(at(lent, "value"), [{ digest: sha256(SECRET) }, "one note"]);
  });

  test("withholds a tool whose definition has changed until an operator accepts it", async () => {
    const find = (): Promise<unknown> => execute(gateway.session, "return await parts.find({ n: 1 })");
    assert.equal(at(await find(), "error", "code"), "TOOL_WITHHELD");
    const sorted = await execute(gateway.session, "return await parts.sort({ n: 1 })");
    assert.deepEqual(at(sorted, "value"), { n: 1 });
    assert.match(
      (await copy.run(["servers", "approve", "parts", "find", "--yes"])).stdout,
      /first edition[^]*second edition/,
    );
    for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await wait(50)) {
      const value = at(await find(), "value");
      if (value !== undefined) return assert.deepEqual(value, { n: 1 });
    }
    assert.fail("It stays withheld");
  });

  test("continues the ledger export after the last record that was sent", () => {
    const [first = ""] = sent;
    assert.equal(Number(/ seq="(\d+)"/.exec(first)?.[1]), Number(at(EXPECTED, "cursor")) + 1);
  });

  test("leaves a ledger that verifies from the old records to the new", async () => {
    await gateway.stop();
    const verdict = await copy.read("audit", "verify", "--key", textAt(EXPECTED, "publicKey"), "--json");
    assert.equal(at(verdict, "ok"), true);
    assert.ok(Number(at(verdict, "signed")) > Number(at(EXPECTED, "records")));
  });
});
