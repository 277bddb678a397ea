/** Programs one after the other in realms of one image: which instance each gets, and that it finds nothing in it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS } from "../../../domain/index.ts";
import { loadQuickjsImage } from "../../fixtures/quickjs-image.ts";
import { TO_GUEST, TO_HOST } from "../../wire.ts";
import type { StartMessage } from "../../wire.ts";
import type { Realm, Send } from "../realm.ts";
import type { QuickjsInstance } from "./load-quickjs.ts";
import { createQuickjsRealms } from "./quickjs-realm.ts";

const MEGABYTE = 1024 * 1024;
/** Far from the static data, the stack and the heap of the programs here. */
const UNUSED = 14 * MEGABYTE;
const { image, createInstance } = loadQuickjsImage();

interface Ran {
  readonly sent: readonly (readonly [number, string])[];
  readonly realm: Realm;
}

interface Bench {
  /** Every instance that was made. */
  readonly made: QuickjsInstance[];
  /** Runs one program, answers none of its calls, and disposes of its realm. */
  run(javascript: string, limits?: Partial<StartMessage["limits"]>, timeoutMs?: number, onSend?: Send): Promise<Ran>;
}

function openBench(compareEvery?: number): Bench {
  const made: QuickjsInstance[] = [];
  const createRealm = createQuickjsRealms(
    image,
    () => {
      const instance = createInstance();
      made.push(instance);
      return instance;
    },
    compareEvery,
  );
  return {
    made,
    async run(javascript, limits = {}, timeoutMs = 60_000, onSend = () => undefined) {
      const sent: (readonly [number, string])[] = [];
      const realm = await createRealm(32 * MEGABYTE, (kind, id, text) => {
        sent.push([kind, text]);
        onSend(kind, id, text);
      });
      const message = { javascript, namespaces: { files: "read" }, input: null, seed: [1, 2, 3, 4] };
      const { wallMs, memoryBytes, outputBytes, resultBytes: valueBytes, argumentBytes, depth } = DEFAULT_LIMITS;
      const all = { wallMs, memoryBytes, outputBytes, valueBytes, argumentBytes, depth, ...limits };
      try {
        realm.start(javascript, JSON.stringify({ ...message, limits: all }), 0, timeoutMs);
      } catch {
        // The way in which a program ends is not the subject here.
      }
      realm.dispose();
      return { sent, realm };
    },
  };
}

const UNUSUAL: readonly (readonly [string, string, Partial<StartMessage["limits"]>?, number?, Send?])[] = [
  ["exceeds its time", "for (;;);", {}, 30],
  ["exceeds its time in a promise and catches it", "await new Promise(() => { for (;;); }).catch(() => 1)", {}, 30],
  ["exceeds its memory", "const all = []; for (;;) all.push(new Uint8Array(4e6))"],
  ["exceeds its memory and catches it", "try { new Uint8Array(4e8) } catch { return 1 }"],
  ["makes memory grow", "return new Uint8Array(2e7).length"],
  ["exceeds the size of its result", "return 'x'.repeat(1_000)", { valueBytes: 100 }],
  ["exceeds the depth of its result", "return [[[[1]]]]", { depth: 2 }],
  ["exceeds its output", "console.log('x'.repeat(1_000))", { outputBytes: 100 }],
  ["meets an error of the host", "console.log(1)", {}, 60_000, () => assert.fail("the host's own error")],
];

const USUAL: readonly (readonly [string, string])[] = [
  ["returns", "return 1"],
  ["throws", "throw new Error('no')"],
  ["does not parse", "const = 1"],
  ["waits forever", "await new Promise(() => {})"],
  ["overflows its stack", "const dive = () => dive() + 1; dive()"],
  ["uses nine megabytes", "return new Uint8Array(9e6).fill(1).length"],
  [
    "leaves a call, a timer and a job",
    "files.read(); setTimeout(() => 1, 1); Promise.resolve().then(() => 1); return 1",
  ],
];

describe("the instance of the next program", () => {
  for (const [what, program, ...rest] of UNUSUAL) {
    it(`a program that ${what} loses its instance`, async () => {
      const bench = openBench(1);
      await bench.run(program, ...rest);
      await bench.run("return 1");
      assert.equal(bench.made.length, 2);
    });
  }
  for (const [what, program] of USUAL) {
    it(`a program that ${what} leaves its instance to the next one`, async () => {
      const bench = openBench(1);
      await bench.run(program);
      await bench.run("return 1");
      assert.equal(bench.made.length, 1);
    });
  }
  it("a realm that is open at the same time has another instance", async () => {
    const createRealm = createQuickjsRealms(image, createInstance);
    const [one, other] = [await createRealm(MEGABYTE, () => undefined), await createRealm(MEGABYTE, () => undefined)];
    assert.notEqual(one, other);
    one.dispose();
    other.dispose();
  });
});

describe("the comparison after a reset", () => {
  const plant = (bench: Bench): void => void bench.made.at(-1)?.bytes.fill(1, UNUSED, UNUSED + 1);

  it("every thousandth reset is compared with the image, and a difference ends the child", async () => {
    const bench = openBench();
    await bench.run("return 1");
    plant(bench);
    for (let resets = 2; resets < 1_000; resets += 1) await bench.run("return 1");
    await assert.rejects(
      bench.run("return 1"),
      new TypeError(`Address ${UNUSED} differs from the image after a reset`),
    );
  });
  it("a comparison without a difference lets the instance be used again", async () => {
    const bench = openBench(2);
    for (let resets = 0; resets < 4; resets += 1) await bench.run("globalThis.left = 1; return 1");
    assert.equal(bench.made.length, 1);
  });
});

/** Each leaves something behind that `PROBE` would see. */
const LEAVING = [
  "globalThis.left = 1; Object.prototype.left = 1; Array.prototype.map = () => 1; return 1",
  "Object.defineProperty(globalThis, 'left', { get() { throw 1 }, configurable: false }); Object.freeze(globalThis)",
  "Symbol.for('left'); JSON.stringify = () => '7'; Promise.prototype.then = undefined; return 1",
  "files.read(); setTimeout(() => { globalThis.left = 1 }, 0); await new Promise(() => {})",
  "for (let i = 0; i < 50; i += 1) Promise.resolve().then(() => { globalThis.left = i }); throw 1",
  "Math.random(); crypto.randomUUID(); Date.now = () => 7; console.log = () => 7; return 1",
];
const PROBE = `return [typeof left, Reflect.ownKeys(globalThis).map(String), Reflect.ownKeys(Object.prototype).map(String),
  [1].map(String), JSON.stringify({ a: 1 }), Date.now(), Math.random(), Object.isFrozen(globalThis), await 5]`;

describe("what a program finds", () => {
  it("a program in a reset instance finds the same as one in a new instance", async () => {
    const { sent: expected } = await openBench().run(PROBE);
    assert.equal(expected.at(-1)?.[0], TO_HOST.DONE);
    for (const leaving of LEAVING) {
      const bench = openBench(1);
      await bench.run(leaving);
      const { sent } = await bench.run(PROBE);
      assert.deepEqual([sent, bench.made.length], [expected, 1], leaving);
    }
  });
  it("no byte of a program's text or data stays in memory after its realm is disposed of", async () => {
    const bench = openBench(1);
    const seen: boolean[] = [];
    const holds = (): boolean => bench.made.some(({ bytes }) => bytes.includes("canary-3f9c"));
    await bench.run(
      "globalThis.kept = ['canary-3f9c'.repeat(9)]; console.log('here'); return 1",
      {},
      60_000,
      (kind) => {
        if (kind === TO_HOST.LOG) seen.push(holds());
      },
    );
    assert.deepEqual([seen, holds()], [[true], false]);
  });
  it("a realm that was disposed of delivers nothing to the next program", async () => {
    const bench = openBench(1);
    const { realm, sent } = await bench.run("files.read().then((text) => { globalThis.late = text }); return 1");
    const late = { kind: TO_GUEST.REPLY, id: 1, text: '"late"', atMs: 0 };
    const { sent: next } = await bench.run("files.read(); return typeof late", {}, 60_000, () => {
      assert.throws(() => realm.deliver(late, 1_000), new TypeError("The realm is disposed of"));
    });
    assert.deepEqual([sent.length, next.at(-1)], [2, [TO_HOST.DONE, '"undefined"']]);
  });
});
