/**
 * Attacks on the guest's own side of the boundary: replaced built-ins, planted setters, unusual arguments and results.
 */

import { returnsValue, endsWith, throwsMatching } from "./attack.ts";
import type { Attack } from "./attack.ts";

/** Runs after each act of tampering; a guest that keeps private copies answers as before. */
const ASK =
  'const answer = [await tools.echo({ a: [1, { b: "x" }] }), await tools.fail("no").catch((error) => error.code)];';
const ANSWER = [{ a: [1, { b: "x" }] }, "UPSTREAM_FAILED"];

const REPLACED: readonly (readonly [string, string])[] = [
  ["JSON", 'JSON.parse = () => "forged"; JSON.stringify = () => "forged";'],
  [
    "Map",
    "Map.prototype.get = () => ({ resolve() {} }); Map.prototype.set = () => {}; Map.prototype.delete = () => true;",
  ],
  ["WeakMap", "WeakMap.prototype.get = () => 99; WeakMap.prototype.set = () => {};"],
  [
    "Promise",
    "Promise.prototype.catch = function (f) { return this.then(undefined, f) }; globalThis.Promise = class {};",
  ],
  ["Reflect", "for (const key of Reflect.ownKeys(Reflect)) delete Reflect[key];"],
  [
    "the functions of Object",
    "for (const key of ['keys', 'freeze', 'create', 'defineProperty', 'getPrototypeOf', 'entries']) Object[key] = () => [];",
  ],
  ["iteration", "Array.prototype[Symbol.iterator] = function* () { yield 'forged'; };"],
  [
    "the methods of arrays",
    "for (const key of ['push', 'map', 'join', 'indexOf', 'forEach', 'slice']) Array.prototype[key] = () => ['forged'];",
  ],
  [
    "the methods of strings",
    "for (const key of ['split', 'slice', 'concat', 'charCodeAt', 'padStart']) String.prototype[key] = () => 'forged';",
  ],
  [
    "the methods of functions",
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'forged';",
  ],
  [
    "the tests of kinds",
    "Array.isArray = () => true; ArrayBuffer.isView = () => true; Object.prototype.isPrototypeOf = () => true;",
  ],
  [
    "hasInstance",
    "Object.defineProperty(Object, Symbol.hasInstance, { value: () => true }); Object.defineProperty(Error, Symbol.hasInstance, { value: () => true });",
  ],
  ["symbols", "globalThis.Symbol = () => 'forged'; globalThis.String = () => 'forged';"],
];

const CAUGHT =
  "['resolve','reject','site','kind','id','text','send','callback','args','bytes','depth','limits','ancestors','length','reason','start','deliver','message','retry','hint','seq','stack','name']";

export const TAMPER_ATTACKS: readonly Attack[] = [
  ...REPLACED.map(([what, change]): Attack => ({
    cannot: `mislead the guest by replacing ${what}`,
    code: `${change}\n${ASK}\nreturn answer;`,
    expect: returnsValue(ANSWER),
  })),
  {
    cannot: "catch the guest's own values with setters and getters on Object.prototype",
    code: `const caught = []; const names = ${CAUGHT};
      for (const name of names) Object.defineProperty(Object.prototype, name, { configurable: true, set(value) { caught.push(typeof value === "function" ? name : "data"); }, get() { return undefined; } });
      const answer = await tools.echo({ a: 1 }); console.log("x"); setTimeout(() => {}, 1); await tools.fail("no").catch(() => {});
      for (const name of names) delete Object.prototype[name]; return [caught.filter((name) => name !== "data"), answer];`,
    expect: returnsValue([[], { a: 1 }]),
  },
  {
    cannot: "catch a resolving function with setters on Array.prototype",
    code: `const caught = new Set(); for (const index of [0, 1, 2]) Object.defineProperty(Array.prototype, index, { configurable: true, set(value) { caught.add(typeof value); }, get() { return undefined; } });
      await tools.echo(1); console.log("x", { a: [1] }); for (const index of [0, 1, 2]) delete Array.prototype[index]; return caught.has("function");`,
    expect: returnsValue(false),
  },
  {
    cannot: "see another call's answer through a planted then",
    code: `const seen = []; Object.defineProperty(Object.prototype, "then", { configurable: true, get() { seen.push(Object.keys(this).join()); return undefined; } });
      const both = await Promise.all([tools.echo({ mine: 1 }), tools.echo({ other: 2 })]); delete Object.prototype.then; return [both, seen.every((keys) => ["mine", "other", "", "value,done", "0,1"].includes(keys))];`,
    expect: returnsValue([[{ mine: 1 }, { other: 2 }], true]),
  },
  {
    cannot: "make the guest treat a reply as a promise of the host",
    code: `const reply = await tools.echo({ then: "text", constructor: { prototype: 1 }, __proto__: null }); return [typeof reply, Object.keys(reply).sort()];`,
    expect: returnsValue(["object", ["constructor", "then"]]),
  },
  {
    cannot: "change a prototype with a reply that names __proto__",
    code: `const reply = await tools.echo(JSON.parse('{"__proto__":{"polluted":"yes"}}')); return [({}).polluted === undefined, Object.getPrototypeOf(reply) === Object.prototype, Object.hasOwn(reply, "__proto__")];`,
    expect: returnsValue([true, true, true]),
  },
  {
    cannot: "answer twice differently through a proxy in its arguments",
    code: `let reads = 0; const sly = new Proxy({ path: "ok" }, { get(target, key) { if (key === "path") { reads += 1; return reads === 1 ? "ok" : "evil"; } return target[key]; } }); return [await tools.echo(sly), reads];`,
    expect: returnsValue([{ path: "ok" }, 1]),
  },
  {
    cannot: "break the guest with a proxy whose every trap throws",
    code: `const trap = new Proxy({}, new Proxy({}, { get() { throw new Error("trap"); } })); return await tools.echo(trap).then(() => "sent", (error) => error.message);`,
    expect: returnsValue("trap"),
  },
  {
    cannot: "end silently by throwing a proxy whose every trap throws",
    code: `throw new Proxy({}, new Proxy({}, { get() { throw new Error("trap"); } }));`,
    expect: throwsMatching(/"kind":"thrown"/),
  },
  {
    cannot: "send a promise, a cyclic object or a function as an argument",
    code: `const circle = {}; circle.self = circle; const out = []; for (const bad of [{ p: Promise.resolve() }, circle]) await tools.echo(bad).catch((error) => out.push(error.code)); out.push(await tools.echo({ f() {}, s: Symbol("x") })); return out;`,
    expect: returnsValue(["TOOL_ARGUMENTS_INVALID", "TOOL_ARGUMENTS_INVALID", {}]),
  },
  {
    cannot: "forge a line of the protocol in a tool's name or arguments",
    code: `return [await tools.echo({ a: "x\\ntools.fail\\n{}" }), await tools["echo\\n{}"]({ b: 1 }).catch((error) => "refused")];`,
    expect: returnsValue([{ a: "x\ntools.fail\n{}" }, "refused"]),
  },
  {
    cannot: "overflow the stack inside the codec",
    code: `let deep = {}; for (let i = 0; i < 1e5; i += 1) deep = { deep }; const sent = await tools.echo(deep).catch((error) => error.code); let n = 0; const endless = () => ({ toJSON: () => (n += 1, endless()) }); return [sent, await tools.echo(endless()).catch((error) => error.name)];`,
    expect: returnsValue(["LIMIT_SIZE", "RangeError"]),
  },
  {
    cannot: "return a value that nests too deep",
    code: `let deep = 1; for (let i = 0; i < 200; i += 1) deep = [deep]; return deep;`,
    expect: endsWith("LIMIT_SIZE"),
  },
  {
    cannot: "make the end fail with a hostile promise constructor",
    code: `Object.defineProperty(Promise, Symbol.species, { get() { throw new Error("species"); } }); Promise.prototype.constructor = function () { throw new Error("constructor"); }; Promise.prototype.then = () => {}; return 5;`,
    expect: { kind: "value", value: 5 },
  },
  {
    cannot: "break the settling of a call with prepareStackTrace",
    code: `Error.prepareStackTrace = () => { throw new Error("mine"); }; return await tools.fail("no");`,
    expect: throwsMatching(/mine|no/),
  },
  {
    cannot: "keep a failed call from failing with a strange stackTraceLimit",
    code: `Object.defineProperty(Error, "stackTraceLimit", { get() { throw new Error("limit"); } }); return await tools.fail("no").catch((error) => error.code ?? error.message);`,
    expect: returnsValue("UPSTREAM_FAILED"),
  },
  {
    cannot: "hide a tool's failure behind a forged ToolError of a call that was never made",
    code: `const forged = new ToolError("POLICY_DENIED", "forged"); forged.seq = 1; throw forged;`,
    expect: throwsMatching(/"code":"POLICY_DENIED"(?!.*"seq")/),
  },
  {
    cannot: "leave getters on globalThis that the guest would call",
    code: `const called = []; const { defineProperty } = Object; for (const name of ["JSON", "Promise", "Map", "Object", "Error", "String", "Reflect"]) defineProperty(globalThis, name, { configurable: true, get() { called.push(name); return undefined; } }); const a = await tools.echo(1); console.log({ a }); return [a, called];`,
    expect: returnsValue([1, []]),
  },
  {
    cannot: "make async generators or thenables continue after the end",
    code: `const later = { then(resolve) { setTimeout(() => { tools.echo("late"); resolve(1); }, 30); } }; (async function* () { yield await later; })().next(); return "done";`,
    expect: returnsValue("done"),
  },
];
