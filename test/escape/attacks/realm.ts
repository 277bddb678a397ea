/**
 * Attacks on what a program can reach: code from strings, clocks, random values, shared memory, the host's functions.
 */

import { returnsValue, endsWith } from "./attack.ts";
import type { Attack } from "./attack.ts";

/** Calls and constructs a function with source code; returns "" if it compiles nothing. */
const COMPILE = `const compile = (make) => {
  for (const attempt of [() => make("return 6*7")(), () => new make("return 6*7")(), () => Reflect.construct(make, ["return 6*7"], Object)()])
    try { if (attempt() === 42) return "compiled"; } catch {}
  return "";
};`;

const FUNCTION_ROUTES: readonly (readonly [string, string])[] = [
  ["a bound function", "(function () {}).bind(null).constructor"],
  ["a class with a static block", "(class { static { this.made = 1 } }).constructor"],
  ["a generator", "(function* () {}).constructor"],
  ["an async function", "(async () => {}).constructor"],
  ["an async generator", "(async function* () {}).constructor"],
  ["the prototype of a generator's constructor", "Object.getPrototypeOf((function* () {}).constructor)"],
  ["the getter of an accessor", 'Object.getOwnPropertyDescriptor(Map.prototype, "size").get.constructor'],
  ["the revoker of a proxy", "Proxy.revocable({}, {}).revoke.constructor"],
  [
    "a promise's resolving functions",
    "(() => { let got; new Promise((resolve) => (got = resolve)); return got.constructor })()",
  ],
  ["a method of console", "console.log.constructor"],
  ["setTimeout", "setTimeout.constructor"],
  ["URL's parser", "URL.canParse.constructor"],
  ["structuredClone", "structuredClone.constructor"],
  ["fetch", "fetch.constructor"],
  ["crypto", "crypto.randomUUID.constructor"],
  ["the class of ToolError", "ToolError.constructor"],
  ["a stub's own constructor", "tools.echo.constructor"],
  ["the getter of a legacy regular expression", 'Object.getOwnPropertyDescriptor(RegExp, "$1").get.constructor'],
  ["a bound Intl function", "new Intl.NumberFormat().format.constructor"],
  ["a subclass of the replaced Function", "(class extends Function {})"],
  ["the species of a native class", "Array[Symbol.species].constructor"],
];

export const REALM_ATTACKS: readonly Attack[] = [
  ...FUNCTION_ROUTES.map(([route, expression]): Attack => ({
    cannot: `compile a string through ${route}`,
    code: `${COMPILE}\nreturn compile(${expression});`,
    expect: returnsValue(""),
  })),
  {
    cannot: "evaluate a string directly or indirectly",
    code: `const tried = []; for (const run of [() => eval("1"), () => (0, eval)("1"), () => globalThis["ev" + "al"]("1"), () => setTimeout("1")])
      try { run(); tried.push("ran"); } catch (error) { tried.push(error.name); } return tried;`,
    expect: returnsValue(["EvalError", "EvalError", "EvalError", "TypeError"]),
  },
  {
    cannot: "see functions, receivers or any other value in the frames of a stack",
    code: `const seen = new Set(); let frames = 0; const ask = (site, key) => { try { return site[key](); } catch {} };
      Error.prepareStackTrace = (_, sites) => { for (const site of sites) { frames += 1; for (const key of Reflect.ownKeys(Object.getPrototypeOf(site))) {
        const got = key === "constructor" ? null : ask(site, key); if (typeof got === "function" || (typeof got === "object" && got !== null)) seen.add(String(key)); } } return ""; };
      const look = () => new Error("x").stack; look(); const o = {}; Error.captureStackTrace(o); o.stack; console.log({ get a() { return look(); } });
      await tools.fail("x").catch((error) => error.stack); await tools.echo({ get a() { return look(); } }); await { then(done) { look(); done(); } };
      await new Promise((done) => setTimeout(() => done(look()), 1)); return [frames > 9, [...seen]];`,
    expect: returnsValue([true, []]),
  },
  {
    cannot: "read a path of the machine from an error inside the host's functions",
    code: `const texts = []; let tries = 0;
      const deep = (act) => { tries = 0; const go = () => { try { go(); } catch (error) {
        if (((tries += 1) % 20 === 0 || tries < 40) && tries < 4000) try { act(); } catch (inner) { texts.push(String(inner && inner.stack)); } throw error; } }; try { go(); } catch {} };
      deep(() => new URL("http://a/b")); deep(() => console.debug("x")); deep(() => { tools.echo(1).catch((error) => texts.push(String(error.stack))); });
      await 0; const outside = texts.filter((text) => text.includes("isolated-vm boundary")); // the overflow was in the host's function
      return [texts.length > 0, outside.length > 0, texts.every((text) => !/file:|node:|child\\./.test(text))];`,
    expect: returnsValue([true, true, true]),
  },
  {
    cannot: "read a path of the machine from the host's functions when memory is exhausted",
    code: `const held = [], texts = []; try { for (;;) held.push(new Uint8Array(1e5).fill(1)); } catch {} try { for (;;) held.push(new Uint8Array(50).fill(1)); } catch {}
      for (let i = 0; i < 40; i += 1) for (const act of [() => new URL("http://a/" + "x".repeat(i * 999)), () => console.debug("x".repeat(i * 999)), () => setTimeout(() => {}, 1)])
        try { act(); } catch (error) { held.length -= 1; texts.push(String(error && error.stack), String(error)); } held.length = 0; return texts;`,
    expect: endsWith("LIMIT_MEMORY", "returned", "threw"),
  },
  {
    cannot: "load anything or read a path from an import",
    code: `const out = []; for (const name of ["node:fs", "fs", "./x.js", "../engine/child.js", "/engine/quickjs.wasm", "file:///etc/passwd", "data:text/javascript,1", "std", "os", "qjs:std", "qjs:os", "qjs:bjson", "program.ts", "guest.js"])
      await import(name).then(() => out.push("loaded"), (error) => out.push(error.message.split(/ ['"]/)[0], ...(/file:|node:|\\/work|\\/usr/.exec(error.stack) ?? [])));
      return [...new Set(out)];`,
    expect: returnsValue(["Not supported"]),
  },
  {
    cannot: "load a module of the engine",
    code: `const loaded = []; for (const name of ["workers", "sockets", "email", "node", "workflows", "ai", "br", "durable-objects", "pipelines", "vectorize", "internal-class"].map((name) => "cloudflare:" + name)
      .concat("cloudflare-internal:env", "cloudflare-internal:workers", "cloudflare-internal:sockets", "node-internal:process", "node:process", "node:buffer", "node:async_hooks", "node:perf_hooks", "process", "buffer", "workerd:unsafe", "workerd:unsafe-eval", "workerd:rtti", "internal:unsafe-eval", "entrypoint"))
      await import(name).then((module) => loaded.push(name, ...Object.keys(module)), () => {}); return loaded;`,
    expect: returnsValue([]),
  },
  {
    cannot: "import the functions that control it from the guest's own module",
    code: `const got = []; for (const name of ["guest.js", "./guest.js", "/guest.js", "program.ts", "child.js"]) { const module = await import(name).catch(() => ({}));
      for (const value of Object.values(module)) for (const key of Object.keys(value ?? {})) try { const given = value[key](null); got.push(typeof given); } catch {} } return got;`,
    expect: returnsValue([]),
  },
  {
    cannot: "read a real clock by any path",
    code: `const stamp = Date.now(); const spin = () => { for (let i = 0; i < 3e6; i += 1); }; spin();
      class Sub extends Date {} const clone = structuredClone(new Date()); const { constructor } = Object.getPrototypeOf(new Date()); const day = new Date();
      const times = [Date.now(), +new Date(), +new Sub(), Sub.now(), +new (clone.constructor)(), +Reflect.construct(Date, []), +Reflect.construct(Date, [], Sub), day.getTime.call(Reflect.construct(Date, [], Object)),
        Date.parse(Date()) + stamp % 1000, Date.parse(Date.call(null)) + stamp % 1000, Date.parse(Reflect.apply(Date, {}, [])) + stamp % 1000, Date.parse(new Date().toISOString()), new Date().getTime(),
        +structuredClone(new Date()), +new constructor(), Date.parse(constructor()) + stamp % 1000, constructor.now(), +new (new Proxy(Date, {}))(), +new (Date.bind(null))(), new Date(new Date()).valueOf(), day.setMilliseconds(day.getMilliseconds())];
      const wrong = times.flatMap((time, index) => (time === stamp ? [] : [index])); if (typeof Intl === "undefined") return wrong;
      const precise = new Intl.DateTimeFormat("en", { second: "numeric", fractionalSecondDigits: 3 });
      if (precise.format() !== precise.format(stamp)) wrong.push("format"); if (precise.formatToParts().at(-1).value !== precise.formatToParts(stamp).at(-1).value) wrong.push("parts");
      return wrong;`,
    expect: returnsValue([]),
  },
  {
    cannot: "make a date formatter read the clock through a range",
    code: `try { return new Intl.DateTimeFormat().formatRange(); } catch (error) { return error.name; }`,
    expect: returnsValue("TypeError"),
  },
  {
    cannot: "learn the machine's time zone from dates alone",
    code: `return [...new Set([0, 3, 6, 9].map((month) => new Date(2024, month, 1).getTimezoneOffset())), new Date(0).getHours(), String(new Date(0)).slice(0, 33), Date.parse("1970-01-01T00:00:00")];`,
    expect: returnsValue([0, 0, "Thu Jan 01 1970 00:00:00 GMT+0000", 0]),
  },
  {
    cannot: "find the native Math.random",
    code: `return [Math.random.toString().includes("native"), Object.getOwnPropertyNames(Math).filter((name) => /random/i.test(name))];`,
    expect: returnsValue([false, ["random"]]),
  },
  {
    cannot: "find a clock, shared memory, WebAssembly or the collector among the globals",
    code: `return ["performance", "SharedArrayBuffer", "Atomics", "WebAssembly", "WeakRef", "FinalizationRegistry", "Temporal", "gc", "queueMicrotask", "setInterval", "MessageChannel", "BroadcastChannel", "ShadowRealm", "process", "require"]
      .filter((name) => name in globalThis || typeof globalThis[name] !== "undefined");`,
    expect: returnsValue([]),
  },
  {
    cannot: "get shared memory from a growable buffer or a view",
    code: `const tags = new Set(); for (const make of [() => new ArrayBuffer(8, { maxByteLength: 16 }), () => new Uint8Array(8).buffer, () => structuredClone(new ArrayBuffer(8)), () => new DataView(new ArrayBuffer(8)).buffer])
      tags.add(Object.prototype.toString.call(make())); return [...tags];`,
    expect: returnsValue(["[object ArrayBuffer]"]),
  },
  {
    cannot: "find the function that booted the guest, or a handle of the engine",
    code: `const names = Reflect.ownKeys(globalThis).map(String); return names.filter((name) => /boot|guest|ivm|isolate|send|deliver|start|\\$\\d/i.test(name));`,
    expect: returnsValue([]),
  },
  {
    cannot: "reach the callers of its functions",
    code: `let seen = ""; await tools.echo({ toJSON() { try { seen += typeof arguments.callee; } catch (error) { seen += error.name; } return 1; } });
      try { seen += (function f() { return f.caller; })(); } catch (error) { seen += error.name; } return seen;`,
    expect: returnsValue("TypeErrorTypeError"),
  },
  {
    cannot: "use the network under any of its usual names",
    code: `const out = [typeof WebSocket, typeof EventSource, typeof XMLHttpRequest, typeof Request, typeof navigator];
      await fetch("http://127.0.0.1:__PORT__/").catch((error) => out.push(error.code)); return out;`,
    expect: returnsValue(["undefined", "undefined", "undefined", "undefined", "undefined", "EGRESS_DENIED"]),
  },
  {
    cannot: "change a namespace, its stubs or the console",
    code: `const tried = []; for (const change of [() => { tools.echo = 1; }, () => { delete tools.echo; }, () => { tools.echo.x = 1; }, () => { Object.setPrototypeOf(tools, {}); }, () => { Object.defineProperty(tools, "x", { value: 1 }); }, () => { globalThis.tools = 1; }, () => { delete globalThis.tools; }, () => { console.log = 1; }])
      try { change(); tried.push("changed"); } catch (error) { tried.push(error.name); } return [...new Set(tried), await tools.echo(3)];`,
    expect: returnsValue(["TypeError", 3]),
  },
];
