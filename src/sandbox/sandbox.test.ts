/** Programs in real children: what they write, call, throw and wait for. */

import assert from "node:assert/strict";
import { after, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ENGINES, itOn } from "./fixtures/engines.ts";
import { ECHO, hostOf, openTestSandbox } from "./fixtures/test-sandbox.ts";
import type { GuestHost } from "./sandbox.ts";

for (const engine of ENGINES) {
  const it = itOn(engine);
  const { sandbox, run, end, value } = await openTestSandbox({}, engine);
  describe(engine, () => {
    after(() => sandbox.close());

    describe("console", () => {
      it("keeps every line with its level, in order, also when the program fails", async () => {
        const program = `
      console.log("a", 1, { b: [2n] }, undefined, null, () => 1, Symbol("s"), new Error("e"), Promise.resolve());
      console.info("i"); console.warn("w"); console.error("e"); console.debug("d"); console.trace("t");
      console.dir({ x: 1 }); console.table([1]); console.assert(true, "no"); console.assert(0, "yes", 2);
      console.log(); throw 1;`;
        const { ending, logs } = await run(program);
        assert.equal(ending.kind, "threw");
        assert.deepEqual(
          logs.map(({ level, text }) => [level, text]),
          [
            ["log", 'a 1 {"b":["2"]} undefined null [Function] Symbol(s) Error: e [Promise: await it]'],
            ["info", "i"],
            ["warn", "w"],
            ["error", "e"],
            ["debug", "d"],
            ["debug", "t"],
            ["log", '{"x":1}'],
            ["log", "[1]"],
            ["error", "Assertion failed yes 2"],
            ["log", ""],
          ],
        );
        assert.ok(logs.every(({ atMs }) => Number.isInteger(atMs) && atMs >= 0));
      });
      it("never throws for a strange value", async () => {
        const program = `const a = []; a.push(a); console.log(a);
      console.log(new Proxy({}, { ownKeys() { throw 1; } })); console.log({ get x() { throw 2; } });`;
        const { ending, logs } = await run(program);
        assert.equal(ending.kind, "returned");
        assert.deepEqual(
          logs.map(({ text }) => text),
          ["[circular]", "[unprintable]", "[unprintable]"],
        );
      });
    });

    describe("tool calls", () => {
      it("sends the address and the arguments of a tool call and returns the value", async () => {
        const program = "return [await files.read({ path: 'a', n: new Date(0) }), await github.listIssues()]";
        assert.deepEqual(await value(program), [
          { address: "files.read", args: { path: "a", n: "1970-01-01T00:00:00.000Z" } },
          { address: "github.listIssues", args: {} },
        ]);
      });
      it("runs tool calls in sequence or in parallel, as the program does", async () => {
        let underWay = 0;
        let most = 0;
        const host: GuestHost = {
          call: async (_address, args) => {
            underWay += 1;
            most = Math.max(most, underWay);
            await sleep(5);
            underWay -= 1;
            return { ok: true, json: String(args) };
          },
        };
        const numbers = [1, 2, 3, 4, 5];
        const sequential = "const all = []; for (const n of input) all.push(await files.read({ n })); return all";
        const parallel = "return Promise.all(input.map((n) => files.read({ n })))";
        assert.deepEqual(
          await value(sequential, { host, input: numbers }),
          numbers.map((n) => ({ n })),
        );
        assert.equal(most, 1);
        assert.deepEqual(
          await value(parallel, { host, input: numbers }),
          numbers.map((n) => ({ n })),
        );
        assert.equal(most, 5);
      });
      it("throws a failed call as a ToolError with code, message, retry and hint", async () => {
        const error = { code: "POLICY_DENIED", message: "No", retry: false, hint: "Ask" } as const;
        const program = `try { await files.write() } catch (error) {
      const { name, code, message, retry, hint } = error;
      return { name, code, message, retry, hint, is: error instanceof ToolError && error instanceof Error };
    }`;
        const caught = { name: "ToolError", ...error, is: true };
        assert.deepEqual(await value(program, { host: hostOf({ ok: false, error }) }), caught);
      });
      it("ends the program on an uncaught failure and names the call", async () => {
        const error = { code: "UPSTREAM_FAILED", message: "Broken", retry: false } as const;
        const host: GuestHost = {
          call: (...request) =>
            request[0] === "files.write" ? hostOf({ ok: false, error }).call(...request) : ECHO.call(...request),
        };
        const ending = await end("await files.read();\n  await files.write()", { host });
        assert.ok(ending.kind === "threw");
        const { stack, ...rest } = ending.thrown;
        assert.deepEqual(rest, {
          kind: "thrown",
          name: "ToolError",
          message: "Broken",
          seq: 2,
          code: "UPSTREAM_FAILED",
        });
        assert.match(stack, /^ToolError: Broken\n\s+at (?:<anonymous> \()?program\.ts:2:15/);
      });
      it("gives a forged ToolError no call number", async () => {
        const ending = await end("throw new ToolError('POLICY_DENIED', 'forged')");
        assert.ok(ending.kind === "threw");
        assert.deepEqual([ending.thrown.seq, ending.thrown.code], [undefined, "POLICY_DENIED"]);
      });
      it("refuses arguments that are not JSON in the guest, without a call to the host", async () => {
        const calls: unknown[] = [];
        const host: GuestHost = { call: (address) => (calls.push(address), Promise.resolve({ ok: true, json: "1" })) };
        const program = `const codes = []; const a = {}; a.a = a;
      for (const args of [[a], [{ p: Promise.resolve() }], [{}, {}]]) try { await files.read(...args) } catch (e) { codes.push(e.code) }
      return codes`;
        assert.deepEqual(
          await value(program, { host }),
          Array.from({ length: 3 }, () => "TOOL_ARGUMENTS_INVALID"),
        );
        assert.deepEqual(calls, []);
      });
      it("ends the execution if the host itself fails", async () => {
        const host: GuestHost = { call: () => Promise.reject(new Error("secret words")) };
        const ending = await end("try { await files.read() } catch { return 'caught' }", { host });
        assert.ok(ending.kind === "failed");
        assert.deepEqual([ending.error.code, ending.error.message], ["INTERNAL_BUG", "The bridge failed"]);
      });
    });

    describe("what a program throws", () => {
      const cases = [
        ["'text'", "", "text"],
        ["undefined", "", "undefined"],
        ["null", "", "null"],
        ["Symbol('s')", "", "Symbol(s)"],
        ["7n", "", "7"],
        ["{ message: 'm', name: 'N' }", "N", "m"],
        ["Object.create(null)", "", ""],
        ["new Proxy({}, { get() { throw 1; } })", "", ""],
        ["{ get message() { throw 1; }, name: 3 }", "", ""],
        ["new (class Mine extends Error { name = 'Mine' })('x')", "Mine", "x"],
      ] as const;
      for (const [expression, name, message] of cases) {
        it(`describes an untrusted error safely: ${expression}`, async () => {
          const ending = await end(`throw ${expression.startsWith("{") ? `(${expression})` : expression}`);
          assert.ok(ending.kind === "threw");
          assert.deepEqual([ending.thrown.kind, ending.thrown.name, ending.thrown.message], ["thrown", name, message]);
        });
      }
      it("shortens the message of a thrown error", async () => {
        const ending = await end("throw new Error('x'.repeat(100_000))");
        assert.ok(ending.kind === "threw");
        assert.deepEqual([ending.thrown.message.length, ending.thrown.stack.length], [8_192, 8_192]);
      });
      const failing = "const f = () => {\n  null.x;\n};\n\nf();";
      it("reports the lines of the program in the stack of an error", async () => {
        const ending = await end(failing);
        assert.ok(ending.kind === "threw");
        const frames =
          /^TypeError: [^\n]*\n\s+at f \(program\.ts:2:\d+\)\n\s+at (?:<anonymous> \()?program\.ts:5:1\)?\n/;
        assert.match(ending.thrown.stack, frames);
      });
      it("reports the column of the program in the stack of an error", async () => {
        const ending = await end(failing);
        assert.ok(ending.kind === "threw");
        assert.match(ending.thrown.stack, /^TypeError: [^\n]*\n\s+at f \(program\.ts:2:8\)\n/);
      });
      it("reports columns of the program's first line", async () => {
        const ending = await end("  throw new Error('here')");
        assert.ok(ending.kind === "threw");
        assert.match(ending.thrown.stack, /^Error: here\n\s+at (?:<anonymous> \()?program\.ts:1:(?:9|13)\)?\n/);
      });
      it("shows no file of the machine in the stack of an error", async () => {
        const ending = await end("throw new Error('here')");
        assert.ok(ending.kind === "threw");
        assert.doesNotMatch(ending.thrown.stack, /\/|wasm|node:/);
      });
      it("ends the program on an exception in a timer", async () => {
        const ending = await end("setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => {})");
        assert.ok(ending.kind === "threw");
        assert.equal(ending.thrown.message, "late");
      });
      it("distinguishes a syntax error from a thrown error", async () => {
        const ending = await end("const = 1");
        assert.ok(ending.kind === "threw");
        assert.deepEqual([ending.thrown.kind, ending.thrown.name], ["syntax", "SyntaxError"]);
      });
    });

    describe("a rejection", () => {
      const wait = "await new Promise((done) => setTimeout(done, 20)); return 1";
      it("ends the program on an unhandled rejection", async () => {
        const ending = await end(`Promise.reject(new Error("lost")); ${wait}`);
        assert.ok(ending.kind === "threw");
        assert.equal(ending.thrown.message, "lost");
      });
      it("does not end the program on a handled rejection", async () => {
        assert.equal(await value(`Promise.reject(new Error("lost")).catch(() => 1); ${wait}`), 1);
      });
    });

    describe("a promise that nothing can settle", () => {
      for (const program of ["await new Promise(() => {})", "await files.read(); await { then() {} }"]) {
        it(`detects at once that nothing can settle the promise: ${program}`, async () => {
          const ending = await end(program);
          assert.ok(ending.kind === "threw");
          assert.deepEqual(
            [ending.thrown.kind, ending.thrown.message],
            ["stuck", "The program waits for a promise that nothing can settle"],
          );
        });
      }
      it("waits for a promise that a timer settles (positive control)", async () => {
        assert.equal(await value("return await new Promise((done) => setTimeout(done, 5, 'done'))"), "done");
      });
    });
  });
}
