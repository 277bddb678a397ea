/**
 * Ways to turn what was read into a value that contains nothing of it, by the time, the order, the number or the failure
 * of something. `m` and `list` were read; `body` is the argument.
 */

export interface Laundering {
  readonly through: string;
  readonly code: string;
}

const through = (name: string, code: string): Laundering => ({ through: name, code });
const SLEEP = "const sleep = (ms) => new Promise((done) => setTimeout(done, ms));";

/** The clock moves and timers fire by what was read. */
const TIMES: readonly Laundering[] = [
  through(
    "the time that a pause took",
    `${SLEEP} const from = Date.now(); await sleep(2 * m.body.charCodeAt(5)); const body = Date.now() - from;`,
  ),
  through(
    "the order in which timers fire",
    `${SLEEP} const order = [];
     await Promise.all([...m.body.slice(0, 8)].map((c, at) => sleep(c.charCodeAt(0)).then(() => order.push(at))));
     const body = order.join();`,
  ),
  through(
    "which of two timers is first",
    `${SLEEP} const body = await Promise.race([
       sleep(20).then(() => "slow"), sleep(m.body.length > 3 ? 1 : 90).then(() => "fast")]);`,
  ),
  through(
    "how often a short timer fires before a long one",
    `${SLEEP} let body = 0; let isOver = false; sleep(m.body.charCodeAt(0)).then(() => (isOver = true));
     while (!isOver && body < 40) { await sleep(9); body += 1; }`,
  ),
  through(
    "a reply that comes before or after a timer",
    `${SLEEP} const body = await Promise.race([
       sleep(m.body.length > 3 ? 60_000 : 0).then(() => "timer"), sleep(40).then(() => util.echo({})).then(() => "reply")]);`,
  ),
  through(
    "the number of turns that a promise takes",
    `let body = 0; let isOver = false;
     const count = (async () => { while (!isOver && body < 9999) { body += 1; await null; } })();
     for (let n = 0; n < m.body.charCodeAt(5); n += 1) await null;
     isOver = true; await count;`,
  ),
  through("the number of a timer", "let body; for (const _ of m.body) body = setTimeout(() => 0, 0);"),
];

/** A tool without labels keeps it. */
const TOOLS: readonly Laundering[] = [
  through(
    "a tool that keeps a text",
    "await util.save({ text: m.body }); const { last: body } = await util.load({ id: 1 });",
  ),
  through(
    "how often a tool was called",
    'for (const _ of m.body) await util.save({ text: "x" }); const { count: body } = await util.load({ id: 1 });',
  ),
  through(
    "the order of two calls of a tool",
    `const texts = m.body.charCodeAt(0) % 2 ? ["a", "b"] : ["b", "a"]; texts.push(m.tags.length);
     for (const text of texts) await util.save({ text }); const { all: body } = await util.load({ id: 1 });`,
  ),
  through(
    "a call that is answered before another one",
    "await Promise.all([util.save({ text: m.body }), util.save({ text: 'x' })]); const { all: body } = await util.load({ id: 1 });",
  ),
  through(
    "a tool that has one name and another",
    "await util[m.body.length > 3 ? 'save' : 'echo']({ text: 'x' }); const { count: body } = await util.load({ id: 1 });",
  ),
];

/** Something fails, or not. */
const FAILURES: readonly Laundering[] = [
  through(
    "the place of a thrown value",
    "let body = 0; try { for (const c of m.body) { if (c === 's') throw body; body += 1; } } catch (at) { body = at; }",
  ),
  through(
    "what fails",
    `let body; try { m.body.length > 3 ? null.x : undeclared } catch (error) { body = error.name }
     body += m.body.codePointAt(2);`,
  ),
  through(
    "the words of an error",
    "let body; try { JSON.parse(m.body) } catch (e) { body = e.message + m.body.length }",
  ),
  through(
    "how deep a function calls itself",
    "const dive = (n) => (n <= 0 ? 0 : 1 + dive(n - 1)); const body = dive(m.body.charCodeAt(4));",
  ),
  through(
    "a rejected promise",
    `const all = await Promise.allSettled([...m.body].map((c) => (c < "f" ? Promise.reject(1) : Promise.resolve(2))));
     const body = all.map(({ status }) => status.length).join("");`,
  ),
  through(
    "a finally block",
    "let body = 1; for (const c of m.body) try { if (c < 'f') continue; body *= 3; } finally { body = (body + 1) % 9973; }",
  ),
];

/** Order and number of parts. */
const SHAPES: readonly Laundering[] = [
  through(
    "the order of keys",
    "const o = {}; [...m.body.slice(0, 9)].forEach((c, at) => { o[c.charCodeAt(0) * 10 + at] = at }); const body = Object.values(o).join();",
  ),
  through("the size of a set", "const body = new Set(m.body).size * 100 + m.body.length;"),
  through(
    "the sizes of groups",
    "const groups = new Map(); for (const c of m.body) groups.set(c, (groups.get(c) ?? 0) + 1); const body = [...groups.values()].join();",
  ),
  through(
    "an array with holes",
    "const a = []; a[m.body.charCodeAt(3)] = 1; a[m.body.charCodeAt(5)] = 1; const body = a.length;",
  ),
  through(
    "the order of constants",
    `const body = ["0", "1", "2", "3", "4", "5"].sort((a, b) => m.body.charCodeAt(a) - m.body.charCodeAt(b)).join("");`,
  ),
  through(
    "how often a comparator is called",
    "let body = 0; [...m.body].sort((a, b) => { body += a < b ? 3 : 1; return a < b ? -1 : 1 });",
  ),
  through("where expressions match", "const body = [...m.body.matchAll(/[a-m]/g)].map(({ index }) => index).join();"),
  through(
    "where an expression continues",
    "const find = /s/g; find.exec(m.body); const body = find.lastIndex + m.body.length;",
  ),
  through(
    "how often a replacer is called",
    "let body = ''; m.body.replace(/[a-m]/g, (_, at) => { body += `${at}.`; return ''; });",
  ),
  through(
    "JSON in JSON, with lengths in place of texts",
    "const body = JSON.stringify(JSON.stringify(m), (_, v) => (typeof v === 'string' ? [...v].map((c) => c < 'f') : v)).length + m.body.charCodeAt(1);",
  ),
  through(
    "how many random numbers are drawn",
    "for (let n = 0; n < m.body.charCodeAt(1); n += 1) Math.random(); const body = Math.random();",
  ),
  through("how many names are drawn", "for (const _ of m.body) crypto.randomUUID(); const body = crypto.randomUUID();"),
];

/** Code that the engine calls. */
const CALLED: readonly Laundering[] = [
  through(
    "a proxy",
    "const p = new Proxy({}, { get: (_, key) => m.body.charCodeAt(Number(key)) }); const body = p[3] + p[4];",
  ),
  through("the description of a symbol", "const body = Symbol(m.body).description;"),
  through("a template with a tag", "const body = ((parts, ...given) => given.join())`a${m.body}b`;"),
  through("a thenable", "const body = await { then: (done) => done(m.body.length + m.body[1]) };"),
  through(
    "an asynchronous generator",
    "let body = ''; for await (const c of (async function* () { yield* m.body; })()) body = c + body.length + body.slice(0, 20);",
  ),
  through("a private field", "const body = new (class { #v = m.body; get v() { return this.#v.charCodeAt(2) } })().v;"),
  through(
    "a computed method",
    "const o = { [`k${m.tags[0]}`]() {} }; const body = Object.keys(o)[0].length + o[Object.keys(o)[0]].name;",
  ),
  through(
    "a large number",
    "const body = [...m.body].reduce((n, c) => n * 256n + BigInt(c.charCodeAt(0)), 0n) % 1000003n;",
  ),
  through("a date", "const body = new Date(2000, 0, 1, 0, 0, m.body.charCodeAt(0));"),
  through(
    "an address",
    "const body = new URL(`https://example.com/?q=${m.body}`).search.length + new URLSearchParams({ q: m.body }).toString();",
  ),
  through(
    "a label",
    "let body = 0; outer: for (const c of m.body) { for (const d of 'fmt') if (c === d) continue outer; body += c.charCodeAt(0); }",
  ),
  through("a default", "const { [m.body]: body = m.body.length * 7 + m.body.charCodeAt(6) } = {};"),
  through("a bound function", "const body = ((a, b) => b.charCodeAt(1) - a).bind(null, 3)(m.body);"),
  through(
    "the bits of floats",
    "const bits = new DataView(new ArrayBuffer(8)); bits.setFloat64(0, m.body.charCodeAt(1)); const body = bits.getUint8(1) * 256 + bits.getUint8(2);",
  ),
  through("a spread of iterators", "const body = Math.max(...[...m.body].map((c) => c.charCodeAt(0)).slice(0, 3));"),
  through("helpers", "const body = count([...m.body], (c) => (c < 'f' ? 'a' : 'b'));"),
  through(
    "a swapped prototype",
    "const o = Object.create({ toJSON() { return m.body.charCodeAt(1) } }); const body = o;",
  ),
  through("a setter", "let body; const o = { set v(text) { body = text.length * text.charCodeAt(1) } }; o.v = m.body;"),
];

export const LAUNDERINGS: readonly Laundering[] = [...TIMES, ...TOOLS, ...FAILURES, ...SHAPES, ...CALLED];

/** The same means without what was read: evidence must not blame it. */
export const HONEST_MEANS: readonly Laundering[] = [
  through(
    "a pause of a fixed time",
    `${SLEEP} const from = Date.now(); await sleep(7); const body = Date.now() >= from;`,
  ),
  through(
    "timers of fixed times",
    `${SLEEP} const order = []; await Promise.all([30, 1, 15].map((ms, at) => sleep(ms).then(() => order.push(at)))); const body = order.join();`,
  ),
  through(
    "a tool that keeps a constant",
    "await util.save({ text: 'a' }); const { last: body } = await util.load({ id: 1 });",
  ),
  through(
    "another server's tool",
    "await util.save({ text: m.body }); const { text: body } = await other.look({ id: 1 });",
  ),
  through("a tool that was called before the read", "const { last: body } = before;"),
  through(
    "the time of a pause and a call after another pause",
    `${SLEEP} await sleep(m.body.length); const from = Date.now(); await sleep(3); await other.look({ id: 1 });
     const body = Date.now() - from;`,
  ),
  through("a pause that data makes, beside it", `${SLEEP} await sleep(m.body.length); const body = [1, 2].length;`),
];
