/** Each limit of a program just below, at and above its value, in a real child. */

import assert from "node:assert/strict";
import { after, describe } from "node:test";

import type { Limits } from "../domain/index.ts";
import { ENGINES, itOn } from "./fixtures/engines.ts";
import { hostOf, openTestSandbox } from "./fixtures/test-sandbox.ts";
import type { ProgramEnding, GuestHost } from "./sandbox.ts";

const MEGABYTE = 1024 * 1024;
/** Never reached, also by a program of low priority on a busy machine. */
const PATIENT_MS = 600_000;
const SILENT: GuestHost = { call: () => new Promise(() => undefined) };

function codeOf(ending: ProgramEnding): string {
  return ending.kind === "failed" ? ending.error.code : ending.kind;
}

for (const engine of ENGINES) {
  const it = itOn(engine);
  const { sandbox, run, end, value } = await openTestSandbox({}, engine);
  const codes = async (programs: readonly string[], limits: Partial<Limits>): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const program of programs) found.push(codeOf(await end(program, { limits })));
    return found;
  };
  describe(engine, () => {
    after(() => sandbox.close());

    describe("wallMs", () => {
      const stalls = [
        ["a loop", "for (;;);"],
        ["a loop of promises", "const spin = () => Promise.resolve().then(spin); await spin()"],
        ["a call that is not answered", "await files.read()"],
        ["a timer that is later", "await new Promise((done) => setTimeout(done, 60_000))"],
        ["an expression that backtracks", "/^(a+)+$/.test('a'.repeat(60) + '!')"],
        ["a native loop", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)"],
        [
          "a native loop over holes",
          "try { new Array(2 ** 31).join('x') } catch {} for (;;) new Array(2 ** 26).join('')",
        ],
        ["a loop after the catch", "for (;;) try { for (;;); } catch {}"],
        ["a getter of the result", "return { get a() { for (;;); } }"],
        ["a toJSON of the result", "return { toJSON() { for (;;); } }"],
        ["a message of an error", "throw { get message() { for (;;); } }"],
      ] as const;
      // Short, because most of them compute until then.
      const wallMs = 60;
      for (const [name, program] of stalls) {
        it(`the wall limit ends ${name}`, async () => {
          const { ending, usage } = await run(`console.log("kept"); ${program}`, {
            limits: { wallMs },
            host: SILENT,
          });
          assert.equal(codeOf(ending), "LIMIT_TIME");
          assert.match(ending.kind === "failed" ? ending.error.message : "", /its limit of 60 ms \(wallMs\)$/);
          assert.ok(usage.wallMs >= wallMs * 0.95, `${usage.wallMs} ms`);
        });
      }
      it("names the exceeded limit and keeps the logs", async () => {
        const { ending, logs } = await run("console.log('kept'); for (;;);", { limits: { wallMs: 300 } });
        assert.ok(ending.kind === "failed");
        assert.equal(ending.error.message, "The program ran longer than its limit of 300 ms (wallMs)");
        assert.deepEqual(
          logs.map(({ text }) => text),
          ["kept"],
        );
      });
      it("does not end a program that is within the wall limit", async () => {
        assert.equal(
          await value("await new Promise((done) => setTimeout(done, 20)); return 1", { limits: { wallMs: 20_000 } }),
          1,
        );
      });
    });

    describe("cpuMs", () => {
      it("ends a program at the processor limit, long before its wall limit", async () => {
        const { ending } = await run("for (;;);", { limits: { cpuMs: 100, wallMs: PATIENT_MS } });
        assert.equal(codeOf(ending), "LIMIT_TIME");
        assert.ok(
          ending.kind === "failed" && ending.error.message.endsWith("of processor time; its limit is 100 ms (cpuMs)"),
        );
      });
      it("does not count waiting as processor time", async () => {
        const program = "await new Promise((done) => setTimeout(done, 400)); return 1";
        assert.equal(await value(program, { limits: { cpuMs: 150 } }), 1);
      });
    });

    describe("memoryBytes", () => {
      const limits = { memoryBytes: 32 * MEGABYTE, wallMs: PATIENT_MS };
      const bombs = [
        ["arrays", "const all = []; for (;;) all.push(new Array(1_000).fill(1))"],
        ["strings", "const all = []; for (;;) all.push('abc'.repeat(10_000).toUpperCase() + all.length)"],
        ["objects", "let last = {}; for (;;) last = { last, more: [1, 2, 3] }"],
        ["a map", "const map = new Map(); for (let i = 0; ; i += 1) map.set(i, { i })"],
        [
          "a resizable buffer",
          "const b = new ArrayBuffer(8, { maxByteLength: 2 ** 30 }); for (let i = 1; ; i += 1) { b.resize(i * 2 ** 20); new Uint8Array(b).fill(1) }",
        ],
        [
          "buffers, after the catch",
          "const all = []; for (;;) try { all.push(new Uint8Array(2 ** 20).fill(1)) } catch { all.push(new Array(1_000).fill(1)) }",
        ],
      ] as const;
      for (const [name, program] of bombs) {
        it(`ends a bomb of ${name}`, async () => {
          const { ending, usage } = await run(program, { limits });
          assert.equal(codeOf(ending), "LIMIT_MEMORY");
          assert.ok(usage.peakMemoryBytes < 200 * MEGABYTE, `${usage.peakMemoryBytes} bytes`);
        });
      }
      it("refuses a buffer above the memory limit inside the program", async () => {
        const program = "try { new Uint8Array(40 * 2 ** 20); return 'fits' } catch (error) { return error.name }";
        assert.equal(await value(program, { limits }), "RangeError");
      });
      it("ends a program that does not catch a refused buffer", async () => {
        const ending = await end("const kept = []; for (;;) kept.push(new Uint8Array(4 * 2 ** 20).fill(1))", {
          limits,
        });
        assert.equal(codeOf(ending), "LIMIT_MEMORY");
      });
      it("does not end a program below the memory limit, on the heap and off it", async () => {
        const program =
          "const a = new Array(1_000_000).fill(1); const b = new Uint8Array(8 * 2 ** 20).fill(1); return a.length + b.length";
        assert.equal(await value(program, { limits }), 1_000_000 + 8 * MEGABYTE);
      });
      it("gives the next program the default memory", async () => {
        assert.equal(await value("return new Uint8Array(60 * 2 ** 20).length"), 60 * MEGABYTE);
      });
    });

    describe("the stack", () => {
      const attempts = [
        ["calls", "const call = () => call(); call()"],
        ["getters", "({ get a() { return this.a } }).a"],
        ["texts of nested lists", "let a = []; for (let i = 0; i < 20_000; i += 1) a = [a]; String(a)"],
        ["nested JSON", "JSON.parse('['.repeat(200_000))"],
        ["generators", "function* all() { yield* all() } [...all()]"],
      ] as const;
      for (const [name, attempt] of attempts) {
        it(`ends a recursion of ${name} as an error of the program`, async () => {
          const program = `try { ${attempt}; return "ended" } catch (error) { return error.name }`;
          assert.equal(
            await value(program),
            // QuickJS, where programs of `auto` start, meets the end of its stack before the end of the text.
            name === "nested JSON" && engine !== "quickjs" && engine !== "auto" ? "SyntaxError" : "RangeError",
          );
        });
      }
      it("allows a recursion of a thousand", async () => {
        assert.equal(await value("const sum = (n) => (n === 0 ? 0 : n + sum(n - 1)); return sum(1_000)"), 500_500);
      });
    });

    describe("outputBytes", () => {
      const limits = { outputBytes: 100, resultBytes: 100 };
      it("accepts a result above outputBytes up to resultBytes: below, at and above that", async () => {
        const programs = [98, 99, 197, 198, 199].map((length) => `return "x".repeat(${length})`);
        const larger = { outputBytes: 100, resultBytes: 200 };
        assert.deepEqual(await codes(programs, larger), [...Array<string>(4).fill("returned"), "LIMIT_SIZE"]);
      });
      it("limits the result if resultBytes is smaller: below, at and above it", async () => {
        const programs = [97, 98, 99].map((length) => `return "x".repeat(${length})`);
        assert.deepEqual(await codes(programs, { outputBytes: 100, resultBytes: 10 }), [
          "returned",
          "returned",
          "LIMIT_SIZE",
        ]);
      });
      it("limits the logs to outputBytes", async () => {
        const programs = [99, 100, 101].map((length) => `console.log("x".repeat(${length}))`);
        assert.deepEqual(await codes(programs, limits), ["returned", "returned", "LIMIT_SIZE"]);
      });
      it("does not add the logs to the result; the usage counts both", async () => {
        const { ending, usage } = await run('console.log("x".repeat(50)); return "x".repeat(60)', { limits });
        assert.deepEqual([ending.kind, usage.outputBytes], ["returned", 112]);
      });
      it("counts output in bytes of UTF-8", async () => {
        const programs = [
          'return "€".repeat(32)',
          'return "€".repeat(33)',
          'console.log("€".repeat(33))',
          'console.log("€".repeat(34))',
        ];
        assert.deepEqual(await codes(programs, limits), ["returned", "LIMIT_SIZE", "returned", "LIMIT_SIZE"]);
      });
      it("reports the output limit for characters of any byte length", async () => {
        assert.deepEqual(await codes(['return "€".repeat(4_000_000)', 'console.log("€".repeat(1_000_000))'], {}), [
          "LIMIT_SIZE",
          "LIMIT_SIZE",
        ]);
      });
      it("stops a flood of logs before the program ends", async () => {
        assert.deepEqual(await codes(['for (;;) console.log("x".repeat(1_000))'], {}), ["LIMIT_SIZE"]);
      });
      it("stops a large line and a result of holes before they are written", async () => {
        const programs = [
          "return new Array(2 ** 31)",
          'return "x".repeat(2 ** 26)',
          'console.log("x".repeat(2 ** 26))',
        ];
        assert.deepEqual(await codes(programs, {}), ["LIMIT_SIZE", "LIMIT_SIZE", "LIMIT_SIZE"]);
      });
      it("does not count replies of calls as output", async () => {
        const host = hostOf({ ok: true, json: JSON.stringify("x".repeat(10_000)) });
        assert.equal(await value("return (await files.read()).length", { limits, host }), 10_000);
      });
    });

    const nest = (levels: number): string =>
      `let value = []; for (let level = 1; level < ${levels}; level += 1) value = [value];`;

    const attempt = (levels: number): string =>
      `${nest(levels)} try { await files.read({ value }); return "ok" } catch (error) { return error.code }`;

    describe("depth", () => {
      it("limits the depth of the result: below, at and above it", async () => {
        const programs = [3, 4, 5, 100_000].map((levels) => `${nest(levels)} return value`);
        assert.deepEqual(await codes(programs, { depth: 4 }), ["returned", "returned", "LIMIT_SIZE", "LIMIT_SIZE"]);
      });
      it("limits the depth of arguments with an error that a program can catch", async () => {
        const found = [
          await value(attempt(3), { limits: { depth: 4 } }),
          await value(attempt(4), { limits: { depth: 4 } }),
        ];
        assert.deepEqual(found, ["ok", "LIMIT_SIZE"]);
      });
    });

    describe("argumentBytes", () => {
      it("limits arguments in the guest with an error that a program can catch; the host counts exactly", async () => {
        const program = `const codes = [];
      for (const n of input) try { await files.read({ a: "x".repeat(n) }); codes.push("ok") } catch (error) { codes.push(error.code) }
      return codes`;
        const options = { limits: { argumentBytes: 100 }, input: [50, 92, 101, 2 ** 26] };
        assert.deepEqual(await value(program, options), ["ok", "ok", "LIMIT_SIZE", "LIMIT_SIZE"]);
      });
    });

    const start = (count: number): string =>
      `for (let i = 0; i < ${count}; i += 1) setTimeout(() => {}, 10_000); return 1`;

    describe("timers", () => {
      it("allows 999 or 1,000 open timers and not 1,001", async () => {
        assert.deepEqual(await codes([start(999), start(1_000), start(1_001)], {}), [
          "returned",
          "returned",
          "LIMIT_CALLS",
        ]);
      });
      it("allows more timers in sequence and fires them in order", async () => {
        const program = `const order = []; const later = (ms) => new Promise((done) => setTimeout(() => done(order.push(ms)), ms));
      await Promise.all([later(30), later(10), later(20)]); for (let i = 0; i < 20; i += 1) await later(0); return order.slice(0, 3)`;
        assert.deepEqual(await value(program), [10, 20, 30]);
      });
      it("does not fire cleared timers", async () => {
        const program =
          "let ran = 0; const id = setTimeout(() => { ran += 1 }, 1); clearTimeout(id); await new Promise((done) => setTimeout(done, 20)); return ran";
        assert.equal(await value(program), 0);
      });
      it("does not wait for timers after a program has returned", async () => {
        const { ending, usage } = await run("setTimeout(() => {}, 60_000); return 1");
        assert.deepEqual(ending, { kind: "returned", value: 1 });
        assert.ok(usage.wallMs < 30_000, `${usage.wallMs} ms`);
      });
    });

    describe("a hostile program", () => {
      it("does not delay other programs with a hostile program", async () => {
        const abort = new AbortController();
        const { promise: reached, resolve } = Promise.withResolvers<void>();
        const host: GuestHost = {
          call() {
            resolve();
            return Promise.resolve({ ok: true, json: "1" });
          },
        };
        const program = "await files.read({}); for (;;) try { for (;;); } catch {}";
        let isOver = false;
        const limits = { wallMs: PATIENT_MS, cpuMs: PATIENT_MS };
        const hostile = end(program, { limits, host, signal: abort.signal }).finally(() => (isOver = true));
        await reached;
        for (let n = 0; n < 5; n += 1) assert.equal(await value("return (await files.read({})).address"), "files.read");
        assert.equal(isOver, false);
        abort.abort();
        assert.equal(codeOf(await hostile), "cancelled");
      });
    });
  });
}
