/** One program for every function and every object of the language: its shape, and what it does with edge values. */

import { runInThisContext } from "node:vm";

import { PRELUDE } from "./prelude.ts";
type BuiltinProgram = { readonly name: string; readonly code: string };

/** Receivers by the prototype that the method is on; expressions, because each call gets a new one. */
const RECEIVERS: Readonly<Record<string, readonly string[]>> = {
  "String.prototype": [
    '""',
    '"abc"',
    '"  a-b_C  "',
    '"ǆß İıΣς ﬁ"',
    '"e\\u0301\\u{1F468}\\u200d\\u{1F469}"',
    '"\\ud800x\\udc00"',
    '"a,b,,c"',
    '"10"',
    "5",
  ],
  "Number.prototype": ["0", "-0", "1.5", "-123.456", "1e21", "1e-7", "NaN", "Infinity", "255", "0.1"],
  "BigInt.prototype": ["0n", "-255n", "12345678901234567890n"],
  "Boolean.prototype": ["true", "false"],
  "Symbol.prototype": ['Symbol("s")', "Symbol()", "Symbol.iterator"],
  "Array.prototype": [
    "[]",
    "[3, 1, 2]",
    '["b", "a", undefined, "c"]',
    "[1, , 3]",
    "[[1, [2]], 3]",
    '({ length: 2, 0: "x", 1: "y" })',
  ],
  "Object.prototype": ["({})", "({ a: 1, b: 2 })", "[1]", '"s"', "5"],
  "Function.prototype": ["(function named(a, b) { return [a, b]; })", "((a) => a)"],
  "Map.prototype": ["new Map()", 'new Map([["a", 1], [1, "b"], [NaN, 0]])'],
  "Set.prototype": ["new Set()", "new Set([1, 2, NaN, -0])"],
  "WeakMap.prototype": ["new WeakMap()"],
  "WeakSet.prototype": ["new WeakSet()"],
  "Date.prototype": [
    "new Date(0)",
    "new Date(1763300000123)",
    "new Date(NaN)",
    "new Date(-1e14)",
    'new Date("2024-02-29T23:59:59.999Z")',
  ],
  "RegExp.prototype": ["/a/", "/(?<k>[a-z])/gi", "/b/y", "/^.$/su", "/\\n\\//m"],
  "Error.prototype": ['new Error("m")', 'new TypeError("t", { cause: 1 })'],
  "Promise.prototype": ["Promise.resolve(1)", "Promise.reject(2)"],
  "ArrayBuffer.prototype": ["new ArrayBuffer(8)", "new ArrayBuffer(4, { maxByteLength: 8 })"],
  "DataView.prototype": [
    "new DataView(new Uint8Array([1, 2, 3, 4, 250, 251, 252, 253, 9, 8, 7, 6, 5, 4, 3, 2]).buffer)",
  ],
  "Uint8Array.prototype": ["new Uint8Array([3, 1, 255])", "new Uint8Array(0)"],
  "Object.getPrototypeOf(Uint8Array.prototype)": [
    "new Uint8Array([3, 1, 255])",
    "new Float64Array([1.5, NaN, -0])",
    "new BigInt64Array([5n, -1n])",
  ],
  "Object.getPrototypeOf([][Symbol.iterator]())": ["[1, 2].values()"],
  "Iterator.prototype": ["[3, 1, 2].values()", "new Map([[1, 2]]).entries()"],
  "Object.getPrototypeOf(function* () {}).prototype": ["(function* () { const a = yield 1; yield a; })()"],
  "Object.getPrototypeOf(async function* () {}).prototype": ["(async function* () { const a = yield 1; yield a; })()"],
};

const ARGUMENTS: readonly string[] = [
  "",
  "0",
  "1",
  "-1",
  "2, 3",
  "1e9 + 0.5",
  "NaN",
  "undefined",
  "null",
  '"a"',
  '"b", "x"',
  '"NFKD"',
  "/[ab]/",
  "/b/g, '<$&$1>'",
  "[1, 2]",
  "{ length: 1, 0: 7 }",
  "(a, b) => (a > b ? 1 : a < b ? -1 : 0)",
  "(x) => x, 0",
  "(a, b) => String(a) + b, 'init'",
  "new Set([1, 9])",
  "new Map([[1, 2]])",
  "5n, 3n",
  "Symbol.iterator",
];

/** Objects with functions that take no receiver, and arguments that fit them. */
const STATICS: Readonly<Record<string, readonly string[]>> = {
  Object: [
    "{ b: 1, a: 2 }",
    "[1, 2]",
    "null",
    "{}, { x: 1 }",
    "{ a: 1 }, 'a'",
    "[['k', 1]]",
    "[1, 2, 3], (n) => (n % 2 ? 'odd' : 'even')",
    "{}, { p: { value: 1 } }",
    "NaN, NaN",
    "0, -0",
    "'text'",
    "Object.freeze({ a: 1 })",
  ],
  Reflect: [
    "{ a: 1 }, 'a'",
    "{ a: 1 }, 'a', 2",
    "[1, 2]",
    "Math.max, null, [1, 3]",
    "Date, [0]",
    "{}, 'x', { value: 1 }",
    "1",
    "Object.freeze({}), 'a', 1",
  ],
  Math: [
    "",
    "0",
    "-0",
    "1",
    "-1",
    "0.5",
    "-0.5",
    "1.7",
    "2.5",
    "1e6",
    "1e-9",
    "NaN",
    "Infinity",
    "-Infinity",
    "3, 4",
    "2, 0.5",
    "1.1, 33.3",
    "2, 1023",
    "4294967295, 5",
    "'12'",
    "[7]",
    "0.1, 0.2, 0.3",
  ],
  JSON: [
    "undefined",
    "{ a: [1, undefined, () => 1, Symbol()], d: new Date(0), n: -0, i: Infinity, s: '\\u2028\\ud800\\u0007' }",
    '\'{"a":[1,2,{"b":null}],"__proto__":1}\'',
    "'{\"a\":1}', (k, v, c) => (typeof v === 'number' ? [k, v + 1, c?.source] : v)",
    "{ b: 2, a: { c: [] } }, null, 2",
    "{ b: 2, a: 1 }, ['a']",
    "' 1e2 '",
    "'[1,]'",
    "'\"\\\\u0041\\\\n\"'",
    "1n",
    "'01'",
    "{ toJSON: (k) => 'k' + k }",
    "[new Map([[1, 2]]), new Set([1]), Object(1), Object('s')], null, '--'",
  ],
  Number: [
    "'12px', 8",
    "'0x1f'",
    "1.5",
    "'1e1000'",
    "NaN",
    "2 ** 53",
    "'  12  '",
    "''",
    "'08'",
    "'zz', 36",
    "null",
    "5",
  ],
  String: ["65, 66, 0x1f600", "-1", "{ raw: ['a', 'b'] }, 1", "'abc'", "0x10ffff"],
  Array: ["3", "1, 2", "'añ😀'", "new Set([1])", "{ length: 2 }, (_, i) => i * 2", "[1, , 3]", "-1", "1.5", "null"],
  Date: [
    "",
    "2024, 1, 30, 25, 61",
    "'2026-11-16'",
    "'16 Nov 2026 10:00 GMT'",
    "'Nov 16 2026'",
    "'garbage'",
    "99",
    "2024, NaN",
    "'2026-11-16T10:00:00.123456Z'",
    "'2026-11-16T10:00+02:00'",
    "'+010000-01-01T00:00Z'",
    "'2026-02-30'",
    "'2026-13-01'",
  ],
  BigInt: ["'12'", "'0xff'", "8, 255n", "8, -1n", "1.5", "'x'", "true", "64, 2n ** 64n + 5n"],
  Symbol: ["'s'", "Symbol.for('s')", "Symbol.iterator", "1"],
  Promise: [
    "[1, Promise.resolve(2)]",
    "[Promise.reject(3), 4]",
    "[]",
    "5",
    "() => 6",
    "(a) => a, 7",
    "() => { throw 8; }",
  ],
  Map: ["[1, 2, 3], (n) => n % 2", "[['a', 1]]"],
  RegExp: [
    "'a.b*c'",
    "'a', 'g'",
    "/x/i",
    "/x/i, 'g'",
    "'('",
    "'a', 'gg'",
    "'(?<n>x)', 'd'",
    "'.', 's'",
    "'\\\\u{61}', 'u'",
    "1",
  ],
  ArrayBuffer: ["new Uint8Array(1)", "{}", "4", "-1", "2, { maxByteLength: 4 }"],
  Uint8Array: [
    "'aGk='",
    "'6869'",
    "[1, 257, -1, 1.9, '7', NaN]",
    "3",
    "{ length: 2, 0: 5 }",
    "'a_-=', { alphabet: 'base64url' }",
  ],
  Float64Array: ["[1, '2', null, undefined]", "2", "1, 2"],
  BigInt64Array: ["[1n, -1n]", "1", "[1]"],
  Float32Array: ["[0.1, 1e40]"],
  Int16Array: ["[40000, -40000]"],
  Uint8ClampedArray: ["[300, -5, 1.5, 2.5]"],
  Proxy: ["{}, {}", "() => 1, {}", "1, {}"],
  Iterator: ["[1, 2]", "{ next: () => ({ done: true }) }", "new Set([1])", "1"],
  Error: ["'m'", "'m', { cause: 2 }", "{ toString: () => 'o' }", "new Error('x')"],
  AggregateError: ["[1, 2], 'm'"],
  globalThis: ["'12.5px'", "'0b11'", "'%E4%F6', 1", "'a b&ä😀/?'", "'%C3%A4'", "NaN", "'z', 36", "'\\ud800'"],
};

/** Read from this V8, so that no function is forgotten. */
function methodsOf(expression: string): readonly PropertyKey[] {
  const object: unknown = runInThisContext(expression);
  return Reflect.ownKeys(object as object).filter(
    (key) => key !== "constructor" && key !== "arguments" && key !== "caller",
  );
}

const keyText = (key: PropertyKey): string =>
  typeof key === "symbol" ? `[${key.description}]` : `[${JSON.stringify(key)}]`;
const OMITTED: ReadonlySet<PropertyKey> = new Set(["Temporal"]);

function receiverPrograms(): readonly BuiltinProgram[] {
  return Object.entries(RECEIVERS).flatMap(([prototype, receivers]) =>
    methodsOf(prototype).map((key) => ({
      name: `${prototype}${keyText(key)}`,
      code: `${PRELUDE}const lines = [];
for (const receiver of [${receivers.map((text) => `() => ${text}`).join(", ")}]) {
  for (const args of [${ARGUMENTS.map((text) => `() => [${text}]`).join(", ")}]) {
    lines.push(await attempt(() => {
      const self = receiver();
      const held = self[${typeof key === "symbol" ? key.description : JSON.stringify(key)}];
      const made = typeof held === "function" ? held.apply(self, args()) : held;
      return typeof made?.next === "function" && made !== self ? [self, Array.from({ length: 3 }, () => made.next())] : [self, made];
    }));
  }
}
return lines;`,
    })),
  );
}

function staticPrograms(): readonly BuiltinProgram[] {
  return Object.entries(STATICS).flatMap(([holder, args]) => {
    const keys =
      holder === "globalThis"
        ? "parseFloat parseInt isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape structuredClone btoa atob".split(
            " ",
          )
        : methodsOf(holder);
    const calls = keys.map(
      (key) =>
        [
          `${holder}${keyText(key)}`,
          `${holder}[${typeof key === "symbol" ? key.description : JSON.stringify(key)}]`,
        ] as const,
    );
    const constructions =
      typeof Reflect.get(globalThis, holder) === "function"
        ? ([
            [`new ${holder}`, `(...a) => new ${holder}(...a)`],
            [`${holder}()`, `(...a) => ${holder}(...a)`],
          ] as const)
        : [];
    return [...calls, ...constructions].map(([name, expression]) => ({
      name,
      code: `${PRELUDE}const lines = [];
for (const args of [${args.map((text) => `() => [${text}]`).join(", ")}]) {
  lines.push(await attempt(() => {
    const held = ${expression};
    return typeof held === "function" ? held.apply(${holder}, args()) : held;
  }));
}
return lines;`,
    }));
  });
}

const OBJECTS = [
  ...Object.keys(RECEIVERS),
  ..."Object Function Array String Number Boolean BigInt Symbol Math JSON Reflect Promise Proxy Map Set WeakMap WeakSet Date RegExp".split(
    " ",
  ),
  ..."Error TypeError RangeError SyntaxError ReferenceError URIError EvalError AggregateError Iterator ArrayBuffer DataView".split(
    " ",
  ),
  ..."Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array Float32Array Float64Array BigInt64Array BigUint64Array".split(
    " ",
  ),
  ..."console crypto URL URLSearchParams TextEncoder TextDecoder ToolError globalThis tools glovebox secrets".split(
    " ",
  ),
  ..."TypeError.prototype Int8Array.prototype AggregateError.prototype URL.prototype Object.getPrototypeOf(new(Map)().entries()) Object.getPrototypeOf(/a/[Symbol.matchAll]('')) Object.getPrototypeOf(''[Symbol.iterator]())".split(
    " ",
  ),
  "Object.getPrototypeOf(async () => {})",
  "Object.getPrototypeOf(function* () {})",
  "Object.getPrototypeOf(async function* () {})",
  "Object.getPrototypeOf([].values().map((x) => x))",
  "Object.getPrototypeOf(Iterator.from({ next() {} }))",
  "(function () {})",
  "(() => {})",
  "(class { static a() {} })",
  "(function () { return arguments; })()",
];

/** Own properties with their attributes, in the order of their names. */
function shapePrograms(): readonly BuiltinProgram[] {
  return OBJECTS.map((object) => ({
    name: `shape of ${object}`,
    code: `${PRELUDE}const object = ${object};
const write = ([key, d]) => String(key) + " " + [d.writable, d.enumerable, d.configurable].map(Number).join("") +
  ["value", "get", "set"].filter((part) => part in d).map((part) => " " + part + " " + (typeof d[part] === "function" ? show(d[part]) : typeof d[part])).join("");
return [typeof object, Object.isFrozen(object), Object.isExtensible(object), ...Reflect.ownKeys(object).map((key) => [key, Reflect.getOwnPropertyDescriptor(object, key)]).map(write).sort()];`,
  }));
}

export function builtinPrograms(): readonly BuiltinProgram[] {
  return [...receiverPrograms(), ...staticPrograms(), ...shapePrograms()].filter(
    ({ name }) => ![...OMITTED].some((omitted) => name.includes(String(omitted))),
  );
}
