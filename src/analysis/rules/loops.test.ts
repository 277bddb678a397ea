import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./fixtures/judge.ts";

/** Only what one rule says; the others may have their own opinion of the same source. */
function findingsOf(rule: string, source: string): readonly string[] {
  const judged = judge(source, { rules: { [rule]: "warn" }, blockOnError: false });
  assert.equal(judged[0], "ran", source);
  return judged.slice(1).filter((finding) => finding.startsWith(`${rule} `));
}

for (const source of [
  "for (;;) {}",
  "for (;1<2;) {}",
  "for (let i = 0;; i++) console.log(i)",
  "while (1) f()",
  "while (!0) f()",
  'while ("a") f()',
  "while ({}) f()",
  "while (true || x) f()",
  "do { x() } while (true)",
  "do {} while (1 + 1)",
  "const on = true; while (on) f()",
  "let i = 0; while (i < 10) console.log(i)",
  "while (true) { if (x) continue }",
  "while (true) { for (const a of b) { if (a) break } }",
  "while (true) { switch (x) { case 1: break } }",
  "while (true) { g(() => { return 1 }) }",
  "while (true) { const g = () => { throw 1 } }",
  "while (true) { try { throw 1 } catch {} }",
  "while (true) { try { await tools.echo(1) } catch {} }",
  "while (true) { await new Promise((done) => setTimeout(done, 100)) }",
  "const sleep = (ms) => new Promise((done) => setTimeout(done, ms)); while (true) await sleep(10)",
  "inner: while (true) { while (x) { continue inner } }",
  "while (true) { await Promise.resolve() }",
  "const list = []; while (true) list.push(1)",
  "class A { step() { return 1 } } const a = new A(); while (true) a.step()",
  "const f = () => 1; const g = () => f(); while (true) g()",
  "const cache = new Map(); while (true) { cache.set(1, 2) }",
  "while (true) { try { JSON.parse(x) } catch {} }",
  "const list = [1]; while (true) list.forEach((item) => { console.log(item) })",
]) {
  test(`no-infinite-loop objects to ${source}`, () => {
    assert.equal(findingsOf("no-infinite-loop", source).length, 1);
  });
}

for (const source of [
  "for (const a of b) f(a)",
  "for (let i = 0; i < 10; i++) f(i)",
  "while (x) f()",
  "while (false) f()",
  "while (x.next()) f()",
  "let i = 0; while (i < 10) i++",
  "let i = 0; while (i < 10) { i += 2 }",
  "let more = true; while (more) { more = f() }",
  "let more = true; while (more) { ({ more } = f()) }",
  "while (true) { if (x) break }",
  "while (true) { if (x) return 1 }",
  "for (;;) { if (x) throw new Error('x') }",
  "outer: while (true) { for (const a of b) { if (a) break outer } }",
  "outer: for (const a of b) { while (true) { if (a) continue outer } }",
  "while (true) { switch (x) { case 1: return 2 } }",
  "while (true) { await tools.echo(1) }",
  "while (true) { try { return await tools.echo(1) } catch {} }",
  "const must = (x) => { if (!x) throw new Error('no') }; while (true) must(x)",
  "const poll = async () => { await tools.echo(1) }; while (true) await poll()",
  "async function go(next) { while (true) await next() }",
  "function* ids() { let i = 0; while (true) yield i++ }",
  "'while (true) {}' // for (;;) {}",
  "while (true) { try { f() } finally { break } }",
  "const text = input; while (true) { JSON.parse(text) }",
  "while (true) { new URL(input.url) }",
  "class A { step() { if (this.n++ > 3) throw new Error('end') } } const a = new A(); while (true) a.step()",
  "class A { run() { while (true) this.step() } step() { throw new Error('end') } }",
  "class End extends Error {} class A { constructor(n) { if (n > 3) throw new End() } } let n = 0; while (true) new A(n++)",
  "const must = (x) => { if (!x) throw new Error('no') }; const step = () => must(x); while (true) step()",
  "function each(next) { while (true) next() }",
  "const list = [1]; while (true) list.forEach((item) => { if (item > 1) throw new Error('end') })",
  "const list = [1]; const stop = () => { throw new Error('end') }; while (true) list.map(stop)",
  "const it = input.items(); while (true) it.next()",
  "const { echo } = tools; while (true) { await echo(1) }",
  "const api = tools; const go = async () => (await api.echo(1)).n; while (true) await go()",
]) {
  test(`no-infinite-loop accepts ${source}`, () => {
    assert.deepEqual(findingsOf("no-infinite-loop", source), []);
  });
}

test("no-nested-loops objects to the inner loop but not to callbacks", () => {
  const rule = "no-nested-loops";
  assert.deepEqual(findingsOf(rule, "for (const a of b)\n  for (const c of a) f(c)"), [`${rule} warn 2:3`]);
  assert.deepEqual(findingsOf(rule, "for (const a of b) { while (a.next()) {} }"), [`${rule} warn 1:22`]);
  assert.deepEqual(findingsOf(rule, "for (const a of b) f(); for (const c of d) f()"), []);
  assert.deepEqual(findingsOf(rule, "for (const a of b) a.map((c) => { for (const e of c) f(e) })"), []);
  assert.deepEqual(findingsOf(rule, "for (const a of b) for (const c of a) f(c)").length, 1);
});

for (const source of [
  "for (const id of ids) await tools.echo({ id })",
  "for (const id of ids) { const r = await tools.echo({ id }); out.push(r) }",
  "for (let i = 0; i < 10; i++) await tools.echo({ i })",
  "for (const id in ids) { if (id) await tools?.echo({ id }) }",
  "let total = 0; for (const id of ids) { const r = await tools.echo({ id }); total += r.n }",
  "for (const id of ids) { try { out.push(await tools.echo({ id })) } catch { failed.push(id) } }",
]) {
  test(`no-tool-in-loop suggests Promise.all for ${source}`, () => {
    assert.equal(findingsOf("no-tool-in-loop", source).length, 1);
  });
}

for (const source of [
  "await Promise.all(ids.map((id) => tools.echo({ id })))",
  "for (const id of ids) tools.log(id)",
  "let cursor; do { const page = await tools.echo({ cursor }); cursor = page.next } while (cursor)",
  "let cursor; for (const id of ids) { const page = await tools.echo({ id, cursor }); cursor = page.next }",
  "for (const id of ids) { const r = await tools.echo({ id }); if (r.found) return r }",
  "for (const id of ids) { const r = await tools.echo({ id }); if (r.found) break }",
  "for (const id of ids) { await tools.echo({ id }); await sleep(100) }",
  "for (const id of ids) fs.push(async () => { await tools.echo({ id }) })",
  "while (more) await tools.echo({})",
  "for (const id of await tools.echo({})) f(id)",
]) {
  test(`no-tool-in-loop accepts ${source}`, () => {
    assert.deepEqual(findingsOf("no-tool-in-loop", source), []);
  });
}

const EFFECTS = {
  "tools.read": "read",
  "tools.write": "write",
  "tools.destroy": "destroy",
  "tools.guess": "unknown",
} as const;

function loopFindings(source: string): number {
  return judge(source, { effects: EFFECTS }).filter((finding) => finding.startsWith("no-tool-in-loop ")).length;
}

for (const tool of ["write", "destroy", "guess", "missing"]) {
  for (const source of [
    `for (const id of ids) await tools.${tool}({ id })`,
    `const { ${tool}: act } = tools; for (const id of ids) await act({ id })`,
    `for (const id of ids) { const r = await tools.read({ id }); await tools.${tool}({ r }) }`,
    `for (const id of ids) { await tools.read({ id }); tools.${tool}({ id }).catch(() => 0) }`,
  ]) {
    test(`no-tool-in-loop is silent where the order may matter: ${source}`, () => {
      assert.equal(loopFindings(source), 0);
    });
  }
}

for (const source of [
  "for (const id of ids) await tools.read({ id })",
  "const { read: get } = tools; for (const id of ids) out.push(await get({ id }))",
  "const get = tools.read; for (const id of ids) out.push(await get({ id }))",
  "for (const id of ids) out.push(await tools['read']({ id })); await tools.write({ out })",
]) {
  test(`no-tool-in-loop suggests Promise.all for reads: ${source}`, () => {
    assert.equal(loopFindings(source), 1);
  });
}

test("no-tool-in-loop is silent for a computed tool when effects are known", () => {
  assert.equal(loopFindings("for (const id of ids) await tools[id]({ id })"), 0);
});
