/** The world of a program: exactly these globals, its own time and chance, nothing left over from the one before. */

import assert from "node:assert/strict";
import { after, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Reply } from "../domain/index.ts";
import { ENGINES, MISSING, itOn } from "./fixtures/engines.ts";
import { openTestSandbox } from "./fixtures/test-sandbox.ts";

let seed: readonly number[] = [1, 2, 3, 4];

/** All globals of a guest. An additional name would be an unreviewed way out. */
const GLOBALS = [
  ..."AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array".split(" "),
  ..."Boolean DataView Date DisposableStack Error EvalError Float16Array Float32Array Float64Array".split(" "),
  ..."Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object".split(" "),
  ..."Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol".split(" "),
  ..."SyntaxError TextDecoder TextEncoder ToolError TypeError URIError URL URLSearchParams".split(" "),
  ..."Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakSet atob btoa clearTimeout".split(" "),
  ..."console crypto decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval fetch".split(" "),
  ..."files github globalThis glovebox input isFinite isNaN parseFloat parseInt secrets setTimeout structuredClone".split(
    " ",
  ),
  ..."undefined unescape".split(" "),
  ..."chunk count first groupBy last omit pick sortBy sum table unique".split(" "),
].toSorted();

for (const engine of ENGINES) {
  const it = itOn(engine);
  const { sandbox, pids, end, value } = await openTestSandbox({ seed: () => seed, concurrency: 1 }, engine);
  describe(engine, () => {
    after(() => sandbox.close());

    describe("the globals", () => {
      it("has exactly the listed globals", async () => {
        assert.deepEqual(
          await value("return Object.getOwnPropertyNames(globalThis).sort()"),
          GLOBALS.filter((name) => !MISSING[engine].includes(name)),
        );
      });
      it("has data helpers that a program can shadow", async () => {
        const rows = '[{ k: "a", n: 1 }, { k: "b", n: 2 }, { k: "a", n: 3 }]';
        assert.deepEqual(await value(`return [sum(${rows}, "n"), count(${rows}, "k"), groupBy([1, 2], () => "x")]`), [
          6,
          { a: 2, b: 1 },
          { x: [1, 2] },
        ]);
        assert.deepEqual(
          await value("const sum = 5; let first = 6; function table() { return 7 } return [sum, first, table()]"),
          [5, 6, 7],
        );
      });
      it("has a global object without symbols whose prototype is Object.prototype", async () => {
        const program = `const between = [];
          for (let next = Object.getPrototypeOf(globalThis); next !== Object.prototype; next = Object.getPrototypeOf(next)) between.push(...Reflect.ownKeys(next));
          return [Reflect.ownKeys(globalThis).filter((key) => typeof key === "symbol").length, between]`;
        // V8 has an object of its own between the two.
        assert.deepEqual(await value(program), [0, engine === "isolate" ? ["constructor"] : []]);
      });
      it("has no globals of Node, the network or shared memory", async () => {
        const names = [
          "process",
          "require",
          "module",
          "Buffer",
          "global",
          "setInterval",
          "WebSocket",
          "EventSource",
          "Worker",
          "SharedArrayBuffer",
          "Atomics",
          "queueMicrotask",
          "WebAssembly",
          "WeakRef",
          "FinalizationRegistry",
          "performance",
        ];
        const program = "return input.filter((name) => name in globalThis)";
        assert.deepEqual(await value(program, { input: names }), []);
      });
      it("has three more globals and a fetch that calls the host if the network policy allows anything", async () => {
        const program = "return Object.getOwnPropertyNames(globalThis).sort()";
        const more = [...GLOBALS, "AbortController", "AbortSignal", "Headers"].toSorted();
        const expected = more.filter((name) => !MISSING[engine].includes(name));
        assert.deepEqual(await value(program, { network: true }), expected);
        const host = {
          call: async (address: unknown) =>
            ({ ok: true, json: JSON.stringify({ url: address, headers: [] }) }) as const,
        };
        assert.equal(await value("return (await fetch('x')).url", { network: true, host }), "glovebox.fetch");
      });
      it("has a fetch whose error tells how to get access", async () => {
        const program =
          "return fetch('https://example.com').catch(({ code, message, hint }) => ({ code, message, hint }))";
        assert.deepEqual(await value(program), {
          code: "EGRESS_DENIED",
          message: "The sandbox has no network",
          hint: "Call a tool of an upstream instead, or ask the operator to allow the host in sandbox.networkPolicy",
        });
      });
    });

    describe("code from strings", () => {
      const ways = [
        "eval('1')",
        "(0, eval)('1')",
        "new Function('return 1')",
        "Function('return 1')",
        "(() => {}).constructor('return 1')",
        "(async () => {}).constructor('return 1')",
        "(function* () {}).constructor('return 1')",
        "(async function* () {}).constructor('return 1')",
        "Reflect.construct((class {}).constructor, ['return 1'])",
        "Array.constructor('return 1')",
      ];
      for (const way of ways) {
        it(`refuses code from strings: ${way}`, async () => {
          const program = `try { ${way}; return 'ran' } catch (error) { return [error.name, error.message] }`;
          const message = "Code from strings is switched off in this sandbox; write the code in the program itself";
          assert.deepEqual(await value(program), ["EvalError", message]);
        });
      }
      it("runs the same code in the program itself, and instanceof works (positive control)", async () => {
        assert.deepEqual(await value("const f = () => 1; return [f(), f instanceof Function]"), [1, true]);
      });
    });

    describe("the bindings of a program", () => {
      const ways = [
        "files = 1",
        "globalThis.files = 1",
        "delete globalThis.files",
        "Object.defineProperty(globalThis, 'files', { value: 1 })",
        "files.read = 1",
        "delete files.read",
        "Object.defineProperty(files, 'read', { value: 1 })",
        "Object.setPrototypeOf(files, {})",
        "Object.freeze(files)",
        "files.read.x = 1",
        "input = 1",
        "delete globalThis.input",
      ];
      for (const way of ways) {
        it(`protects the bindings of a program: ${way}`, async () => {
          const program = `let threw = false; try { ${way} } catch (error) { threw = error instanceof TypeError }
        return [threw, (await files.read({ a: 1 })).address, Object.keys(files), input]`;
          assert.deepEqual(await value(program, { input: 7 }), [true, "files.read", ["read", "write"], 7]);
        });
      }
      it("lets a program shadow bindings in its own scope", async () => {
        assert.equal(await value("const files = 1; return files"), 1);
      });
      it("calls the host for an unknown tool, so that it can suggest the nearest", async () => {
        assert.deepEqual(await value("return [(await files.raed()).address, 'raed' in files, typeof files.then]"), [
          "files.raed",
          false,
          "undefined",
        ]);
      });
    });

    describe("time and chance", () => {
      const chance = "return [Math.random(), Math.random(), crypto.randomUUID(), new Date().getTime() - Date.now()]";
      it("repeats random values for the same seed", async () => {
        seed = [11, 22, 33, 44];
        assert.deepEqual(await value(chance), await value(chance));
      });
      it("gives different random values for different seeds", async () => {
        seed = [11, 22, 33, 44];
        const one = await value(chance);
        seed = [11, 22, 33, 45];
        const other = await value(chance);
        assert.ok(Array.isArray(one) && Array.isArray(other));
        assert.deepEqual(
          [0, 1, 2].map((at) => one[at] === other[at]),
          [false, false, false],
        );
      });
      it("creates UUIDs of version 4", async () => {
        const id = await value("return crypto.randomUUID()");
        assert.ok(typeof id === "string");
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      });
      it("stops the clock while the program computes and moves it when a timer fires", async () => {
        const program = `const start = Date.now(); for (let i = 0; i < 5e6; i += 1); const after = Date.now();
      await new Promise((done) => setTimeout(done, 30)); return [after - start, Date.now() > start]`;
        assert.deepEqual(await value(program), [0, true]);
      });
      it("takes the time from the host, not from the child's machine", async () => {
        const startedAt = Date.now();
        const now = Number(await value("return Date.now()"));
        assert.ok(now >= startedAt && now <= Date.now());
      });
      it("clock and formats use UTC and English only", async () => {
        const program = `const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
      return [timeZone, locale, new Date(0).getTimezoneOffset(), (1234.5).toLocaleString(), new Date(0).toLocaleDateString(), String(new Date(0))]`;
        assert.deepEqual(await value(program), [
          "UTC",
          "en-US",
          0,
          "1,234.5",
          "1/1/1970",
          "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)",
        ]);
      });
      it("gives the same present through every API", async () => {
        const program = `const now = Date.now();
          return [+new Date() === now, Date() === String(new Date(now)), +new (class extends Date {})() === now,
            +Reflect.construct(Date, []) === now, +new (new Date().constructor)() === now]`;
        assert.deepEqual(
          await value(program),
          Array.from({ length: 5 }, () => true),
        );
      });
      it("Intl formats use the host's time", async () => {
        const program = `const now = Date.now(); const format = new Intl.DateTimeFormat("en", { timeStyle: "full", dateStyle: "full" });
          return [format.format() === format.format(now), JSON.stringify(format.formatToParts()) === JSON.stringify(format.formatToParts(now))]`;
        assert.deepEqual(await value(program), [true, true]);
      });
    });

    describe("two programs in the same child", () => {
      const pollute = `Object.prototype.polluted = 1; Array.prototype.push = null; globalThis.left = 1; Promise.prototype.then = null;
      JSON.parse = null; setTimeout(() => files.write(), 5); ToolError.prototype.x = 1; Math.random = () => 4;`;
      const program = `return [{}.polluted, typeof [].push, typeof left, typeof Promise.prototype.then, typeof JSON.parse, ToolError.prototype.x, Math.random() === 4]
      .map((seen) => seen ?? null)`;
      const clean = [null, "function", "undefined", "function", "function", null, false];

      it("isolates two programs in one child: globals, prototypes, timers, modules", async () => {
        await value("return 1"); // the child is up
        const before = [...pids];
        assert.equal((await end(`${pollute} return 1`)).kind, "returned");
        assert.deepEqual(await value(program), clean);
        assert.deepEqual([...pids], before);
      });

      /** Suspends a program once its call arrives and is answered with `answer`. */
      const suspend = async (code: string, answer: Promise<Reply>): Promise<void> => {
        const away = new AbortController();
        const call = (): Promise<Reply> => {
          setTimeout(() => away.abort(), 20);
          return answer;
        };
        assert.deepEqual(await end(code, { host: { call }, suspend: away.signal }), { kind: "paused" });
      };

      it("a program that is suspended while it waits leaves a clean child to the next one", async () => {
        // On a busy machine a child may be too late, and is replaced.
        for (let hasStayed = false, tries = 0; !hasStayed; tries += 1) {
          assert.ok(tries < 20, "no child stays");
          await value("return 1");
          const before = [...pids];
          await suspend(`${pollute} await files.read()`, new Promise(() => undefined));
          await sleep(150);
          assert.deepEqual(await value(program), clean);
          hasStayed = before.every((pid) => pids.has(pid));
        }
      });
      it("a program that is suspended while it computes loses its child soon", async () => {
        await value("return 1");
        const before = [...pids];
        await suspend("await files.read(); for (;;);", Promise.resolve({ ok: true, json: "1" }));
        while (before.every((pid) => pids.has(pid))) await sleep(10);
        assert.deepEqual(await value(program), clean);
      });
    });
  });
}
