/** The bundle in a realm that has nothing but ECMAScript, before and after a program has torn at its built-ins. */

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { test } from "node:test";

import { buildSync } from "esbuild";

const entry = fileURLToPath(import.meta.resolve("./index.ts"));
const built = buildSync({
  entryPoints: [entry],
  bundle: true,
  format: "iife",
  globalName: "web",
  write: false,
  target: "es2024",
});
const bundle = built.outputFiles[0]?.text ?? "";

/** Uses every export and answers with one text; takes what it needs itself before anything is torn. */
const PROBE = `
  const { stringify } = JSON;
  const { hasOwn } = Object;
  const call = Function.prototype.call;
  const getTime = call.bind(Date.prototype.getTime);
  const mapGet = call.bind(Map.prototype.get);
  const parts = '{"href":"h","origin":"o","protocol":"p","username":"","password":"","host":"h","hostname":"h","port":"","pathname":"/","search":"?a=1","hash":""}';
  let setAsked;
  const URL = web.createUrl((href) => href === "bad" ? undefined : parts, (href, part, value) => { setAsked = value; return parts; });
  const nameOf = (run) => { try { run(); return "done"; } catch (error) { return error.name; } };
  const shared = { deep: { list: [1, , "x"] } };
  const sample = { shared, again: shared, date: new Date(5), map: new Map([["k", shared]]), bytes: new Uint8Array([1, 2]), error: new RangeError("r"), ["__proto__"]: 1 };
  const badBytes = new Uint8Array([0x61, 0xff, 0xe2, 0x82, 0xac]);
  const fresh = new Uint8Array(4);

  function probe() {
    const copy = web.structuredClone(sample);
    const params = new web.URLSearchParams("?b=2&a=%C3%BC+&b=3");
    params.append("c", "4 5");
    params.set("b", "9");
    params.delete("a", "no");
    params.sort();
    const url = new URL("good");
    url.searchParams.append("n", "1");
    url.href;
    const headers = new web.Headers({ "X-A": " 1 ", B: "2", c: "3" });
    headers.append("x-a", "4");
    headers.set("b", "5");
    headers.delete("C");
    const controller = new web.AbortController();
    let heardAbort = 0;
    controller.signal.addEventListener("abort", () => { heardAbort += 1; throw 1; });
    controller.abort();
    controller.abort();
    const encoded = new web.TextEncoder().encode("a€😀\\ud800");
    return stringify({
      base64: web.btoa("abc\\xff") + web.atob("YWJj") + nameOf(() => web.atob("*")),
      text: new web.TextDecoder().decode(badBytes) + nameOf(() => new web.TextDecoder("utf-8", { fatal: true }).decode(badBytes)),
      encoded: "" + encoded[0] + encoded[1] + encoded[4] + encoded[10],
      into: new web.TextEncoder().encodeInto("é€", fresh),
      clone: [copy.shared === copy.again, copy.shared === shared, copy.shared.deep.list[2], hasOwn(copy.shared.deep.list, 1)],
      kinds: [getTime(copy.date), mapGet(copy.map, "k") === copy.shared, copy.bytes[1], copy.error.message, "" + copy["__proto__"]],
      refused: nameOf(() => web.structuredClone({ f() {} })),
      params: params.toString() + params.get("b") + params.has("c") + params.getAll("b")[0] + params.size,
      headers: headers.get("X-a") + headers.get("b") + headers.has("c"),
      abort: [web.AbortSignal.abort("why").reason, nameOf(() => web.AbortSignal.abort().throwIfAborted()), heardAbort],
      url: [url.host, setAsked, nameOf(() => new URL("bad")), URL.canParse("bad")],
    });
  }`;

/** Replaces every method and accessor of every built-in, and lays traps where literals and plain arrays would step. */
const TEAR = `
  (() => {
    const { defineProperty, ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
    const boom = function () { throw new Error("torn"); };
    const victims = [];
    for (const name of ownKeys(globalThis)) {
      const value = globalThis[name];
      if (name === "web" || value === null || (typeof value !== "object" && typeof value !== "function")) continue;
      if (value === globalThis) continue;
      victims.push(value);
      if (typeof value === "function" && value.prototype) victims.push(value.prototype);
    }
    victims.push(getPrototypeOf(Uint8Array.prototype), getPrototypeOf(Uint8Array), getPrototypeOf([].values()), getPrototypeOf(new Map().entries()));
    const list = victims.flatMap((victim) => ownKeys(victim).map((key) => ({ victim, key, old: getOwnPropertyDescriptor(victim, key) })));
    const trap = { __proto__: null, get: boom, set: boom, configurable: true };
    for (let index = 0; index < list.length; index += 1) {
      const { victim, key, old } = list[index];
      if (!old.configurable || key === "constructor" || key === "prototype" || key === "name") continue;
      if (typeof old.value === "function") defineProperty(victim, key, { value: boom });
      else if (old.get) defineProperty(victim, key, trap);
    }
    for (let index = 0; index < 20; index += 1) defineProperty(Array.prototype, index, trap);
    defineProperty(Object.prototype, "toJSON", { value: undefined });
    defineProperty(Object.prototype, "get", trap);
    defineProperty(Object.prototype, "value", trap);
    defineProperty(Object.prototype, "deep", trap);
  })()`;

function openRealm(): (source: string) => unknown {
  const context = createContext({});
  const run = (source: string): unknown => runInContext(source, context);
  run(bundle);
  run(PROBE);
  return run;
}

const EXPECTED = {
  base64: "YWJj/w==abcInvalidCharacterError",
  text: "a\ufffd€TypeError",
  encoded: "97226240189",
  into: { read: 1, written: 2 },
  clone: [true, false, "x", false],
  kinds: [5, true, 2, "r", "1"],
  refused: "DataCloneError",
  params: "a=%C3%BC+&b=9&c=4+59true93",
  headers: "1, 45false",
  abort: ["why", "AbortError", 1],
  url: ["h", "a=1&n=1", "TypeError", false],
};

test("the web globals work in a realm with nothing but ECMAScript", () => {
  const run = openRealm();
  assert.deepEqual(JSON.parse(String(run("probe()"))), EXPECTED);
  assert.equal(
    run("[typeof globalThis.URL, typeof globalThis.TextEncoder, typeof structuredClone].join()"),
    "undefined,undefined,undefined",
  );
});

test("the web globals return the same after a program has replaced every built-in", () => {
  const run = openRealm();
  run(TEAR);
  assert.throws(() => run("[].concat([])"), { message: "torn" });
  assert.deepEqual(JSON.parse(String(run("probe()"))), EXPECTED);
});
