/** One realm, driven as a child drives it: what ends it, what it says then, and what it leaves behind. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS } from "../../../domain/index.ts";
import { TO_GUEST, TO_HOST } from "../../wire.ts";
import type { Realm } from "../realm.ts";
import { loadQuickjsImage } from "../../fixtures/quickjs-image.ts";
import { createQuickjsRealms } from "./quickjs-realm.ts";

const MEGABYTE = 1024 * 1024;
const { image, createInstance } = loadQuickjsImage();
const createRealm = createQuickjsRealms(image, createInstance);

interface Opened {
  readonly realm: Realm;
  /** Kind and text of every frame that the guest sent. */
  readonly sent: (readonly [number, string])[];
  readonly start: (javascript: string, timeoutMs?: number) => void;
}

async function open(memoryBytes = 32 * MEGABYTE): Promise<Opened> {
  const sent: (readonly [number, string])[] = [];
  const realm = await createRealm(memoryBytes, (kind, _id, text) => void sent.push([kind, text]));
  const start = (javascript: string, timeoutMs = 5_000): void => {
    const message = { javascript, namespaces: { files: "read" }, input: null, seed: [1, 2, 3, 4] };
    realm.start(javascript, JSON.stringify({ ...message, limits: DEFAULT_LIMITS }), 0, timeoutMs);
  };
  return { realm, sent, start };
}

/** What the realm says of the exception that `act` ends with. */
function failureOf(realm: Realm, act: () => void): unknown {
  try {
    act();
  } catch (thrown) {
    return realm.explain(thrown);
  }
  return undefined;
}

const WALL = { kind: "overrun", overrun: "wall" };
const MEMORY = { kind: "overrun", overrun: "memory" };

describe("the deadline", () => {
  const loops = [
    "for (;;);",
    "try { for (;;); } catch { return 'caught' }",
    "try { await (async () => { for (;;); })() } catch { return 'caught' }",
    "(async () => { for (;;); })().catch(() => files.read()); await 1; return 1",
    "await 1; try { for (;;); } catch { return 'caught' }",
    "await 1; try { for (;;); } finally { return 'ended' }",
    "await Promise.resolve().then(() => { for (;;); }).catch(() => files.read()); return 1",
    "await 1; try { await { get then() { for (;;); } } } catch { return 'caught' }",
    "await 1; try { await new Promise(() => { for (;;); }) } catch { return 'caught' }",
    "async function* all() { try { for (;;); } finally { yield 1; } } for await (const one of all()) await files.read({ one })",
    "await files.read({ toJSON() { for (;;); } }).catch(() => 1); return 1",
    "console.log({ get a() { for (;;); } }); return 1",
    "const spin = () => Promise.resolve().then(spin); await spin()",
  ];
  for (const loop of loops) {
    it(`the deadline ends ${loop}, and the program sends nothing more`, async () => {
      const { realm, sent, start } = await open();
      const failure = failureOf(realm, () => start(loop, 50));
      assert.deepEqual([failure, sent], [WALL, []]);
    });
  }
  it("the deadline does not end a faster program", async () => {
    const { sent, start } = await open();
    start("for (let i = 0; i < 1_000; i += 1); return 'done'");
    assert.deepEqual(sent, [[TO_HOST.DONE, '"done"']]);
  });
});

describe("memory", () => {
  it("a reply that does not fit into memory ends the program, and one that fits does not", async () => {
    const reply = (megabytes: number) => ({
      kind: TO_GUEST.REPLY,
      id: 1,
      text: `"${"x".repeat(megabytes * MEGABYTE)}"`,
      atMs: 0,
    });
    const large = await open();
    large.start("return (await files.read()).length");
    assert.deepEqual(
      failureOf(large.realm, () => large.realm.deliver(reply(60), 5_000)),
      MEMORY,
    );
    const small = await open();
    small.start("return (await files.read()).length");
    small.realm.deliver(reply(5), 5_000);
    assert.deepEqual(small.sent.at(-1), [TO_HOST.DONE, String(5 * MEGABYTE)]);
  });
  it("exhausted memory is an overrun, also without room for an error object", async () => {
    const { sent, start } = await open();
    start("let last = {}; for (;;) last = { last, more: [1, 2, 3] }", 20_000);
    assert.deepEqual(sent, [[TO_HOST.OVERRUN, "memory"]]);
  });
  it("a program that throws null does not exceed its memory limit", async () => {
    const { sent, start } = await open();
    start("throw null");
    assert.deepEqual(
      sent.map(([kind]) => kind),
      [TO_HOST.THREW],
    );
  });
});

describe("a realm", () => {
  it("a quickjs realm reports a syntax error with the author's line", async () => {
    const { realm, start } = await open();
    const failure = failureOf(realm, () => start("\n\nconst = 1"));
    const message = "variable name expected";
    const stack = `SyntaxError: ${message}\n    at program.ts:3:13\n`;
    assert.deepEqual(failure, { kind: "thrown", thrown: { kind: "syntax", name: "SyntaxError", message, stack } });
  });
  it("a quickjs realm holds no more memory after many calls than after few", async () => {
    const calls = 20_000;
    const text = JSON.stringify("x".repeat(1_000));
    const { realm, sent, start } = await open(8 * MEGABYTE);
    start(`for (let n = 0; n < ${calls}; n += 1) await files.read({ n }); return 1`);
    for (let id = 1; id <= calls; id += 1) realm.deliver({ kind: TO_GUEST.REPLY, id, text, atMs: 0 }, 5_000);
    assert.deepEqual([sent.length, sent.at(-1)], [calls + 1, [TO_HOST.DONE, "1"]]);
    assert.match(realm.usage(), / 16777216$/);
  });
  it("a quickjs realm rethrows errors that the program did not cause", async () => {
    const { realm } = await open();
    assert.throws(() => realm.explain(new TypeError("ours")), new TypeError("ours"));
  });
  it("a disposed quickjs realm throws, and can be disposed twice", async () => {
    const { realm, start } = await open();
    realm.dispose();
    realm.dispose();
    assert.throws(() => start("return 1"), new TypeError("The realm is disposed of"));
  });
  it("two quickjs realms share nothing", async () => {
    const [one, other] = [await open(), await open()];
    one.start("Object.prototype.left = 1; globalThis.left = 1; return 1");
    other.start("return typeof left");
    assert.deepEqual(other.sent, [[TO_HOST.DONE, '"undefined"']]);
  });
  it("a quickjs realm measures processor time and memory", async () => {
    const { realm, start } = await open();
    start("return 1");
    assert.match(realm.usage(), /^\d+ 16777216$/);
  });
});
