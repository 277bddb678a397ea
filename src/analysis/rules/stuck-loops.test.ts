/** Loops whose condition stays true once it is, each with a loop that looks alike and ends. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./fixtures/judge.ts";

const RULE = "no-infinite-loop";

function isFound(source: string): boolean {
  const judged = judge(source, { rules: { [RULE]: "warn" }, blockOnError: false });
  assert.equal(judged[0], "ran", source);
  return judged.some((finding) => finding.startsWith(`${RULE} `));
}

/** A loop that cannot end, then loops that can. */
const TWINS: readonly (readonly [endless: string, ...ending: string[]])[] = [
  [
    "const n = input.n; for (let i = 0; i < n; i--) f(i)",
    "const n = input.n; for (let i = 0; i < n; i++) f(i)",
    "const n = input.n; for (let i = n; i > 0; i--) f(i)",
  ],
  ["for (let i = 10; i >= 0; i++) f(i)", "for (let i = 10; i >= 0; i--) f(i)", "for (let i = 0; i > 10; i++) f(i)"],
  [
    "let i = 0; while (i < 10) { f(i); i -= 1 }",
    "let i = 0; while (i < 10) { f(i); i += 1 }",
    "let i = 0; while (i < 10) { f(i); i += input.step }",
    "let i = 0; while (i < 10) { if (f(i)) i -= 1; else i += 2 }",
  ],
  ["let i = 0; do { i = i - 1 } while (10 > i)", "let i = 0; do { i = 1 + i } while (10 > i)"],
  [
    "const list = input.list; for (let i = 0; i < list.length; i--) out.push(list[i])",
    "const list = input.list; for (let i = list.length - 1; i >= 0; i--) out.push(list[i])",
    "const list = input.list; for (let i = 5; i < list.length; i--) list.pop()",
    "const list = input.list; for (let i = 0; i < list.length; ) { if (f(i)) i--; else list.pop() }",
  ],
  ["for (let i = 0; i !== 10; i += 3) f(i)", "for (let i = 0; i !== 9; i += 3) f(i)"],
  ["for (let i = 0; i != 10; i--) f(i)", "for (let i = 0; i != input.n; i--) f(i)"],
  [
    "let n = 0; const end = input.end; for (let i = 0; i < end; n++) f(i)",
    "let n = 0; const end = input.end; for (let i = 0; i < end; i++) n++",
    "let end = input.end; for (let i = 0; i < end; ) { f(i); end-- }",
  ],
  [
    "let done = false; while (!done) { f() }",
    "let done = false; while (!done) { done = f() }",
    "let done = false; const stop = () => { done = true }; while (!done) { stop() }",
    "let done = false; setTimeout(() => { done = true }, 5); while (!done) await new Promise((go) => setTimeout(go, 1))",
    "let done = false; function go() { while (!done) { go(); done = true } } go()",
  ],
  [
    "const more = input.more; do { f() } while (more)",
    "let more; do { f() } while (more)",
    "let more = true; do { more = f() } while (more)",
  ],
  ["let done; while (!done) f()", "let done; while (done) f()"],
  [
    "const queue = [1]; let sum = 0; while (queue.length > 0) { sum += queue[0] }",
    "const queue = [1]; let sum = 0; while (queue.length > 0) { sum += queue.pop() }",
    "const queue = [1]; while (queue.length > 0) { queue.length -= 1 }",
    "const queue = [1]; while (queue.length > 0) { use(queue) }",
    "const queue = [1]; while (queue.length > 0) { await f() }",
    "const queue = { get length() { return n-- } }; let n = 3; while (queue.length > 0) { console.log(1) }",
    "let queue = [1]; while (queue.length > 0) { queue = queue.slice(1) }",
  ],
  [
    "const page = input.page; while (page.next) { console.log(page.next) }",
    "let page = input.page; while (page.next) { console.log(page.next); page = page.next }",
    "const page = input.page; while (page.next) { page.next = page.next.next }",
    "const page = input.page; while (page.next) { [page.next] = [null] }",
    "const page = input.page; while (page.next()) { console.log(1) }",
  ],
  [
    "while (input.items.length > 0) { console.log(input.items[0]) }",
    "while (input.items.length > 0) { console.log(input.items.pop()) }",
  ],
  [
    "const s = 'a,b'; let r = s; do { f(r.indexOf(',')) } while (r.length > 0)",
    "let r = 'a,b'; do { r = r.slice(1) } while (r.length > 0)",
  ],
  [
    "let a = input.a; while (a && !input.stop) { console.log(a) }",
    "let a = input.a; let n = 0; while (a && n < 3) { n++ }",
    "let a = input.a; let n = 0; while (a || n < 3) { n++ }",
  ],
  [
    "let on = input.on; while (on) { switch (f()) { case 1: break; default: } }",
    "let on = input.on; while (on) { switch (f()) { case 1: on = false } }",
    "let on = input.on; out: while (on) { switch (f()) { case 1: break out } }",
    "let on = input.on; while (on) { switch (f()) { case 1: return 1 } }",
  ],
  [
    "let on = input.on; while (on) { for (const a of [1]) { if (a) break } }",
    "let on = input.on; while (on) { for (const a of [1]) { if (a) on = false } }",
    "let on = input.on; out: while (on) { for (const a of [1]) { if (a) break out } }",
  ],
  [
    "const on = input.on; while (on) { console.log(1) }",
    "const on = input.on; while (on) { await tools.echo(1) }",
    "const on = input.on; while (on) { throw new Error('no') }",
    "function* ids() { const on = true; let n = 0; while (on) yield n++ }",
  ],
  [
    "const start = Date.now(); while (Date.now() - start < 20) {}",
    "const start = Date.now(); while (Date.now() - start < 20) await new Promise((done) => setTimeout(done, 5))",
    "const start = Date.now(); let n = 0; while (Date.now() - start < 20 && n < 5) n++",
    "const start = Date.now(); while (Date.now() - start < 20) { if (f()) break }",
    "const Date = input; const start = Date.now(); while (Date.now() - start < 20) {}",
  ],
  ["const end = new Date().getTime() + 5; while (new Date().getTime() < end);", "while (new Date(input.a) < 5) f()"],
  [
    "const t = performance.now(); while (performance.now() < t + 5) { f() }",
    "const t = performance.now(); while (performance.now() < t + 5) { await f() }",
  ],
  [
    "async function go(n) { let i = 0; while (i < n) { console.log(i) } }",
    "async function go(n) { let i = 0; while (i < n) { i++ } }",
  ],
];

for (const [endless, ...ending] of TWINS) {
  test(`${RULE} finds ${endless}`, () => assert.ok(isFound(endless)));
  for (const source of ending) test(`${RULE} accepts ${source}`, () => assert.ok(!isFound(source)));
}
