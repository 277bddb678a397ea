/** Guards of QuickJS: what asks for V8, its twin that does not, and that a program cannot see or use them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { openGuarded } from "./run-guarded.ts";

const run = openGuarded();
const program = (code: string) => ({ name: code, code, namespaces: ["tools"] });
const hasAsked = async (code: string): Promise<boolean> => (await run(program(code))).hasAsked;
const endingOf = async (code: string): Promise<string> => (await run(program(code))).ending;

/** The program that asks, and its twin. */
const TWINS: readonly (readonly [asks: string, twin: string])[] = [
  ["return Intl.NumberFormat", "return typeof Intl"],
  ["return globalThis['In' + 'tl'].x", "return 'Intl' in globalThis"],
  ["return (5)['toLocale' + 'String']()", "return (5).toString()"],
  ["return 'a'['locale' + 'Compare']('b')", "return 'a' < 'b'"],
  ["return 'I'.toLocaleLowerCase('tr')", "return 'I'.toLocaleLowerCase()"],
  ["return Math['e' + 'xp'](1.7)", "return Math.sqrt(1.7)"],
  ["return Math.pow(1.1, 3)", "return Math.pow(1.1, 2) + Math.pow(10, 15)"],
  ["return Math.pow(10, 16)", "return Math.pow(10, 0)"],
  ["return (0.5).toString(36)", "return (35).toString(36) + (0.5).toString(2)"],
  ["return new RegExp('a', 'v').source", "return new RegExp('v', 'u').source"],
  ["return RegExp.escape('é')", "return RegExp.escape('e')"],
  ["return RegExp['$' + 1]", "return RegExp.prototype.flags"],
  [
    "return new Date('16 Nov 2026')",
    "return [new Date('2026-11-16T10:00:00.000Z'), new Date('2026-11-16'), new Date(5)]",
  ],
  ["return Date.parse('2026-11-16T10:00:00,5Z')", "return Date.parse('2026-11-16T10:00:00.5+01:00')"],
  ["return JSON.parse('[1]', (...a) => a[1])", "return JSON.parse('[1]', (k, v) => v)"],
  ["return JSON.rawJSON('1')", "return JSON.stringify(1)"],
  ["return new DisposableStack()", "return typeof DisposableStack"],
  ["try { null.x } catch { return 1 }", "try { throw new Error('x') } catch { return 1 }"],
  ["try { JSON.parse('{') } catch { return 1 }", "try { JSON.parse('{}') } catch { return 1 }"],
  ["await undefined.x", "class Own extends Error {} throw new Own('x')"],
  [
    "return Array.from({ length: 64 }, (_, i) => -i).sort((a, b) => a > b)",
    "return Array.from({ length: 64 }, (_, i) => -i).sort((a, b) => a - b)",
  ],
  [
    "return Array.from({ length: 64 }, (_, i) => i).sort(() => Math.random() - 0.5)",
    "return Array.from({ length: 63 }, (_, i) => i).sort(() => Math.random() - 0.5)",
  ],
  ["return new Uint8Array([2, 1]).sort((a, b) => a - b)", "return new Uint8Array([2, 1]).sort()"],
  [
    "await Promise.allSettled([tools.fail({}), tools.echo({})])",
    "await Promise.allSettled([tools.fail({})]); await tools.echo({})",
  ],
];

describe("the guards", () => {
  for (const [asks, twin] of TWINS) {
    it(`asks for V8: ${asks}`, async () => assert.equal(await hasAsked(asks), true));
    it(`does not ask for V8: ${twin}`, async () => assert.equal(await hasAsked(twin), false));
  }

  it("a guarded function does what QuickJS does if no V8 takes the program over", async () => {
    assert.equal(await endingOf("return (1234.5).toLocaleString()"), 'returned "1234.5"');
    assert.equal(await endingOf("return new Date('16 Nov 2026').toISOString()"), 'returned "2026-11-16T00:00:00.000Z"');
  });

  it("a program that replaced the built-ins still asks, and gets none of the guard's functions", async () => {
    const seen = "const seen = []; const spy = function (...all) { seen.push(this, ...all); return undefined; };";
    const tamper = `${seen} Reflect.apply = spy; Reflect.construct = spy; Function.prototype.call = spy;
      Array.prototype[Symbol.iterator] = spy; Object.defineProperty = spy; WeakMap.prototype.get = spy;
      Object.prototype.apply = spy; Object.prototype.construct = spy;`;
    const ending = "return seen.filter((one) => typeof one === 'function' && /request|ask/.test(one.name)).length";
    const outcome = await run(
      program(`${tamper} Math.exp(1); String(Math.exp); [2, 1].sort((a, b) => a - b); ${ending}`),
    );
    assert.deepEqual([outcome.ending, outcome.hasAsked], ["returned 0", true]);
  });

  it("frames and callers do not show the function that asks", async () => {
    const code = `const found = []; const look = () => { const e = new Error('x'); found.push(String(e.stack)); return 1; };
      Error.prepareStackTrace = (_, frames) => frames.map((f) => Object.keys(Object.getPrototypeOf(f)));
      JSON.parse('[1]', (...a) => look()); return found.join().includes('request')`;
    assert.equal(await endingOf(code), "returned false");
  });
});
