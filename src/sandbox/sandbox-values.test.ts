/** Values and texts across the wall of real children: the JSON rule, the input, strange characters. */

import assert from "node:assert/strict";
import { after, describe } from "node:test";

import type { Json } from "../domain/index.ts";
import { ENGINES, itOn } from "./fixtures/engines.ts";
import { openTestSandbox } from "./fixtures/test-sandbox.ts";

for (const engine of ENGINES) {
  const it = itOn(engine);
  const { sandbox, run, end, value } = await openTestSandbox({}, engine);
  describe(engine, () => {
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
        it(`returns ${expression} as ${JSON.stringify(expected) ?? "nothing"}`, async () => {
          assert.deepEqual(await end(`return ${expression}`), { kind: "returned", value: expected });
        });
      }
      it("a program without return has no value", async () =>
        assert.deepEqual(await end("1;"), { kind: "returned", value: undefined }));
      const refused = [
        ["const a = {}; a.b = [a]; return a", "The result contains itself"],
        ["return { a: Promise.resolve(1) }", "The result contains a promise at a; await it before returning"],
        [
          "return { rows: [{ b: 1 }, { c: [Promise.resolve(1)] }] }",
          "The result contains a promise at rows[1].c[0]; write await Promise.all(list) before returning",
        ],
      ] as const;
      for (const [program, message] of refused) {
        it(`refuses the result of ${program}`, async () => {
          const ending = await end(program);
          assert.ok(ending.kind === "threw");
          assert.deepEqual(
            [ending.thrown.kind, ending.thrown.name, ending.thrown.message],
            ["unserializable", "TypeError", message],
          );
        });
      }
      it("reports a throwing getter of the result as the program's own error", async () => {
        const ending = await end("return { get a() { throw new RangeError('mine'); } }");
        assert.ok(ending.kind === "threw");
        assert.deepEqual(
          [ending.thrown.kind, ending.thrown.name, ending.thrown.message],
          ["thrown", "RangeError", "mine"],
        );
      });
    });

    describe("the input", () => {
      it("gives the program its input", async () => {
        const input = JSON.parse('{"a":[1,null],"__proto__":"x"}');
        assert.deepEqual(await value("return input", { input }), input);
      });
      it("has an undefined input by default", async () =>
        assert.equal(await value("return typeof input"), "undefined"));
    });

    describe("texts", () => {
      const strange = String.raw`"a\0b \u{1f600} €"`;
      it("passes strings completely, also with NUL characters", async () => {
        const program = `console.log(${strange}); return [await files["a\\0b"]({ text: ${strange} }), ${strange}]`;
        const { ending, logs } = await run(program);
        const text = "a\0b 😀 €";
        assert.deepEqual(ending, {
          kind: "returned",
          value: [{ address: "files.a\0b", args: { text } }, text],
        });
        assert.deepEqual(
          logs.map((line) => line.text),
          [text],
        );
      });
      it("passes strings with lone surrogates", async () => {
        const { ending, logs } = await run(String.raw`console.log("\ud800!"); return "\ud800!"`);
        assert.deepEqual(ending, { kind: "returned", value: "\ud800!" });
        assert.deepEqual(
          logs.map((line) => line.text),
          ["\ufffd!"],
        );
      });
      it("passes strings of a megabyte in and out", async () => {
        const input = "é".repeat(300_000);
        assert.equal(
          await value("return (await files.read({ input })).args.input + '!'", {
            input,
            limits: { argumentBytes: 2_000_000 },
          }),
          `${input}!`,
        );
      });
    });
  });
}
