/** Attacks on the limits: time, memory, output, calls and timers. */

import { returnsValue, endsWith, throwsMatching } from "./attack.ts";
import type { Attack } from "./attack.ts";

export const PRESSURE_ATTACKS: readonly Attack[] = [
  {
    cannot: "exceed its time limit in a getter of its result",
    code: "return { get a() { for (;;); } };",
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "exceed its time limit in a getter of its error",
    code: "throw { get message() { for (;;); } };",
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "exceed its time limit in a trap of what it throws",
    code: "throw new Proxy({}, { getPrototypeOf() { for (;;); } });",
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "exceed its time limit in a log line",
    code: "console.log({ toJSON() { for (;;); } });",
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "exceed its time limit in native code",
    code: 'return "x".repeat(2 ** 28).replaceAll("x", "yy").length;',
    expect: endsWith("LIMIT_TIME", "LIMIT_MEMORY"),
  },
  {
    cannot: "exceed its time limit in BigInt arithmetic",
    code: "let n = 3n; for (;;) n = n * n;",
    expect: endsWith("LIMIT_TIME", "LIMIT_MEMORY"),
  },
  {
    cannot: "exceed its time limit in a regular expression",
    code: 'return /^(a+)+$/.test("a".repeat(50) + "b");',
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "exceed its time limit in sorting",
    code: "return Array.from({ length: 1e5 }, (_, i) => (i * 7919) % 1e5).sort((a, b) => { for (let i = 0; i < 1e4; i += 1); return a - b; }).length;",
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "exceed its time limit in a finally",
    code: "try { for (;;); } finally { for (;;); }",
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "exceed its time limit in timers",
    code: "const again = () => setTimeout(again, 0); again(); await new Promise(() => {});",
    expect: endsWith("LIMIT_TIME"),
  },
  {
    cannot: "wait forever",
    code: "await new Promise(() => {});",
    expect: throwsMatching(/"kind":"stuck"/),
  },
  {
    cannot: "continue after its end",
    code: "(async () => { await 0; for (;;) await tools.echo(1); })(); return 1;",
    expect: returnsValue(1),
  },
  {
    cannot: "keep its process busy after its end",
    code: "const again = () => Promise.resolve().then(again); again(); return 1;",
    expect: returnsValue(1),
  },
  {
    cannot: "hold buffers that grow",
    code: "const held = []; for (;;) { const b = new ArrayBuffer(8, { maxByteLength: 3e7 }); b.resize(3e7); new Uint8Array(b).fill(1); held.push(b); }",
    expect: endsWith("LIMIT_MEMORY", "threw"),
  },
  {
    cannot: "fill a map",
    code: "const map = new Map(); for (let i = 0; ; i += 1) map.set(i, [i]);",
    expect: endsWith("LIMIT_MEMORY", "LIMIT_TIME"),
  },
  {
    cannot: "double a string forever",
    code: 'let s = "x"; for (;;) { s += s; s.charCodeAt(s.length - 1); }',
    expect: endsWith("LIMIT_MEMORY", "threw"),
  },
  {
    cannot: "hold a million promises beyond its memory limit",
    code: "const held = []; for (;;) held.push(new Promise(() => {}));",
    expect: endsWith("LIMIT_MEMORY", "LIMIT_TIME"),
  },
  {
    cannot: "queue calls endlessly",
    code: "for (;;) tools.echo(1);",
    expect: endsWith("LIMIT_TIME", "LIMIT_MEMORY"),
  },
  {
    cannot: "start a hundred thousand timers",
    code: "for (let i = 0; i < 1e5; i += 1) setTimeout(() => {}, 1); await 0; return 1;",
    expect: endsWith("LIMIT_CALLS", "LIMIT_TIME"),
  },
  {
    cannot: "flood the host with lines",
    code: 'for (;;) console.log("x".repeat(1000));',
    expect: endsWith("LIMIT_SIZE"),
  },
  {
    cannot: "flood the host with empty lines",
    code: 'for (;;) console.log("");',
    expect: endsWith("LIMIT_SIZE", "LIMIT_TIME"),
  },
  {
    cannot: "hide bytes from the count in wide characters",
    code: 'return "\\u20ac".repeat(4e5);',
    expect: endsWith("LIMIT_SIZE"),
  },
  { cannot: "hide a flood in an array of holes", code: "return new Array(2 ** 31);", expect: endsWith("LIMIT_SIZE") },
  {
    cannot: "hide a flood in a typed array that lies about its length",
    code: 'const view = new Uint8Array(4); Object.defineProperty(view, "length", { value: 1e9 }); return view;',
    expect: endsWith("LIMIT_SIZE"),
  },
  {
    cannot: "hide a flood in an error's stack",
    code: 'const error = new Error("a"); Object.defineProperty(error, "stack", { get: () => "x".repeat(1e7) }); throw error;',
    expect: throwsMatching(/^.{1,20000}$/),
  },
  {
    cannot: "hide a flood in an error's name",
    code: 'const error = new Error("a"); error.name = "n".repeat(1e6); throw error;',
    expect: throwsMatching(/^.{1,20000}$/),
  },
  {
    cannot: "exhaust the host's URL parser",
    code: 'return new URL("http://a/" + "x".repeat(5e7)).href.length;',
    expect: endsWith("LIMIT_MEMORY", "LIMIT_TIME", "threw"), // the engine may find no memory for the copy
  },
  {
    cannot: "send an argument over its limit",
    code: 'return await tools.echo("x".repeat(1024 * 1024)).catch((error) => error.code);',
    expect: returnsValue("LIMIT_SIZE"),
  },
];
