/** Programs in real children: what they return, write, call, throw and see. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Json } from "../domain/index.ts";
import { ECHO, hostOf, openTestSandbox } from "./fixtures/test-sandbox.ts";
import type { GuestHost } from "./sandbox.ts";

const { sandbox, run, end, value } = await openTestSandbox();
after(() => sandbox.close());

describe("a returned value follows the JSON rule", () => {
  const cases: readonly (readonly [string, Json | undefined])[] = [
    ["undefined", undefined],
    ["null", null],
    ["true", true],
    ["1.5", 1.5],
    ["-0", 0],
    ["NaN", null],
    ["-Infinity", null],
    ["10n", "10"],
    ["'a\"\\n€😀'", 'a"\n€😀'],
    ["Symbol('x')", undefined],
    ["() => 1", undefined],
    ["[1, undefined, () => 1, Symbol.iterator, [, 2]]", [1, null, null, null, [null, 2]]],
    ["({ a: undefined, b: () => 1, [Symbol('c')]: 1, d: { e: [] } })", { d: { e: [] } }],
    ['JSON.parse(\'{"__proto__":1,"constructor":2}\')', JSON.parse('{"__proto__":1,"constructor":2}')],
    ["Object.assign(Object.create(null), { a: 1 })", { a: 1 }],
    ["Object.create({ inherited: 1 })", {}],
    ["({ get a() { return 7; } })", { a: 7 }],
    ["new Date(0)", "1970-01-01T00:00:00.000Z"],
    ["new Date(NaN)", null],
    ["new Map([['a', 1], ['b', undefined]])", { a: 1 }],
    [
      "new Map([[1, 'x'], ['a', new Map()]])",
      [
        [1, "x"],
        ["a", {}],
      ],
    ],
    ["new Set([1, 'a', 1])", [1, "a"]],
    ["/a\\/b/gi", "/a\\/b/gi"],
    ["Object.assign(new TypeError('wrong'), { code: 7 })", { code: 7, name: "TypeError", message: "wrong" }],
    ["new Uint8Array([1, 255])", [1, 255]],
    ["new BigInt64Array([5n])", ["5"]],
    ["new Uint16Array([1]).buffer", [1, 0]],
    ["new DataView(new ArrayBuffer(2))", {}],
    ["[Object(1), Object('x'), Object(false)]", [1, "x", false]],
    ["new (class Point { x = 1; #y = 2; get z() { return 3; } })()", { x: 1 }],
    ["({ toJSON: (key) => ['at', key] })", ["at", ""]],
    ["({ a: { toJSON: (key) => ['at', key] } })", { a: ["at", "a"] }],
    ["new URL('https://example.com/a?b=1')", "https://example.com/a?b=1"],
    ["new Proxy([1, 2], {})", [1, 2]],
    ["new WeakMap()", {}],
    ["Promise.resolve(5)", 5],
    ["(() => { const twice = { a: 1 }; return [twice, twice]; })()", [{ a: 1 }, { a: 1 }]],
  ];
  for (const [expression, expected] of cases) {
    it(`${expression} is ${JSON.stringify(expected) ?? "nothing"}`, async () => {
      assert.deepEqual(await end(`return ${expression}`), { kind: "returned", value: expected });
    });
  }
  it("no return is nothing", async () => assert.deepEqual(await end("1;"), { kind: "returned", value: undefined }));
  const refused = [
    ["const a = {}; a.b = [a]; return a", "The result contains itself"],
    ["return { a: Promise.resolve(1) }", "The result contains a promise; await it before returning"],
  ] as const;
  for (const [program, message] of refused) {
    it(`${program} is refused`, async () => {
      const ending = await end(program);
      assert.ok(ending.kind === "threw");
      assert.deepEqual(
        [ending.thrown.kind, ending.thrown.name, ending.thrown.message],
        ["unserializable", "TypeError", message],
      );
    });
  }
  it("a getter that throws is the program's own error", async () => {
    const ending = await end("return { get a() { throw new RangeError('mine'); } }");
    assert.ok(ending.kind === "threw");
    assert.deepEqual([ending.thrown.kind, ending.thrown.name, ending.thrown.message], ["thrown", "RangeError", "mine"]);
  });
});

describe("the input", () => {
  it("is what was given", async () => {
    const input = JSON.parse('{"a":[1,null],"__proto__":"x"}');
    assert.deepEqual(await value("return input", { input }), input);
  });
  it("is undefined when none was given", async () => assert.equal(await value("return typeof input"), "undefined"));
});

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
  it("carry the address and the arguments, and bring back the value", async () => {
    const program = "return [await files.read({ path: 'a', n: new Date(0) }), await github.listIssues()]";
    assert.deepEqual(await value(program), [
      { address: "files.read", args: { path: "a", n: "1970-01-01T00:00:00.000Z" } },
      { address: "github.listIssues", args: {} },
    ]);
  });
  it("run one after the other or side by side, as the program says", async () => {
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
  it("that fail can be caught, with code, message, retry and hint", async () => {
    const error = { code: "POLICY_DENIED", message: "No", retry: false, hint: "Ask" } as const;
    const program = `try { await files.write() } catch (error) {
      const { name, code, message, retry, hint } = error;
      return { name, code, message, retry, hint, is: error instanceof ToolError && error instanceof Error };
    }`;
    const caught = { name: "ToolError", ...error, is: true };
    assert.deepEqual(await value(program, { host: hostOf({ ok: false, error }) }), caught);
  });
  it("that fail uncaught end the program and name the call", async () => {
    const error = { code: "UPSTREAM_FAILED", message: "Broken", retry: false } as const;
    const host: GuestHost = {
      call: (address, args) =>
        address === "files.write" ? hostOf({ ok: false, error }).call(address, args) : ECHO.call(address, args),
    };
    const ending = await end("await files.read();\n  await files.write()", { host });
    assert.ok(ending.kind === "threw");
    const { stack, ...rest } = ending.thrown;
    assert.deepEqual(rest, { kind: "thrown", name: "ToolError", message: "Broken", seq: 2, code: "UPSTREAM_FAILED" });
    assert.match(stack, /^ToolError: Broken\n\s+at program\.ts:2:15/);
  });
  it("that are forged have no number of a call", async () => {
    const ending = await end("throw new ToolError('POLICY_DENIED', 'forged')");
    assert.ok(ending.kind === "threw");
    assert.deepEqual([ending.thrown.seq, ending.thrown.code], [undefined, "POLICY_DENIED"]);
  });
  it("are refused in the guest for arguments that are no JSON, and the host hears nothing of them", async () => {
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
  it("end the execution when the host itself fails", async () => {
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
    it(`is described without trust: ${expression}`, async () => {
      const ending = await end(`throw ${expression.startsWith("{") ? `(${expression})` : expression}`);
      assert.ok(ending.kind === "threw");
      assert.deepEqual([ending.thrown.kind, ending.thrown.name, ending.thrown.message], ["thrown", name, message]);
    });
  }
  it("is cut", async () => {
    const ending = await end("throw new Error('x'.repeat(100_000))");
    assert.ok(ending.kind === "threw");
    assert.deepEqual([ending.thrown.message.length, ending.thrown.stack.length], [8_192, 8_192]);
  });
  it("has line and column of the program in its stack", async () => {
    const ending = await end("const f = () => {\n  null.x;\n};\n\nf();");
    assert.ok(ending.kind === "threw");
    assert.match(ending.thrown.stack, /^TypeError: [^\n]*\n\s+at f \(program\.ts:2:8\)\n\s+at program\.ts:5:1\n/);
  });
  it("in a timer ends the program", async () => {
    const ending = await end("setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => {})");
    assert.ok(ending.kind === "threw");
    assert.equal(ending.thrown.message, "late");
  });
  it("as a syntax error is told apart", async () => {
    const ending = await end("const = 1");
    assert.ok(ending.kind === "threw");
    assert.deepEqual([ending.thrown.kind, ending.thrown.name], ["syntax", "SyntaxError"]);
  });
});

describe("a promise that nothing can settle", () => {
  for (const program of ["await new Promise(() => {})", "await files.read(); await { then() {} }"]) {
    it(`is found at once: ${program}`, async () => {
      const ending = await end(program);
      assert.ok(ending.kind === "threw");
      assert.deepEqual(
        [ending.thrown.kind, ending.thrown.message],
        ["stuck", "The program waits for a promise that nothing can settle"],
      );
    });
  }
  it("has a twin that a timer settles", async () => {
    assert.equal(await value("return await new Promise((done) => setTimeout(done, 5, 'done'))"), "done");
  });
});
