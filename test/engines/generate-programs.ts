/** Generates programs of many shapes from a seed: values, loops, classes, generators, calls, logs and promises. */

import { PRELUDE } from "./prelude.ts";

/** Returns one of the options; the same seed makes the same choices. */
type Pick = <Option>(options: readonly Option[]) => Option;
type Make = (pick: Pick, depth: number) => string;

function choicesFrom(seed: number): Pick {
  let state = (seed + 1) * 2_654_435_761;
  return (options) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    const chosen = options[((mixed ^ (mixed >>> 15)) >>> 0) % options.length];
    if (chosen === undefined) throw new TypeError("The array of options is empty");
    return chosen;
  };
}

const NUMBERS = ["0", "1", "-1", "2.5", "-0", "NaN", "Infinity", "255", "1e21", "0.1", "1e-7", "4294967296", "-17"];
const TEXTS = ['""', '"abc"', '"a,b,c"', '"Äß😀"', '"  x y "', '"10"', '"\\ud800"', '"line\\nline"', '"a1b22c333"'];
const NAMES = ["a", "b", "c"];
const PATTERNS = ["/[a-z]/g", "/\\d+/g", "/(\\w)(\\w)/", "/\\s+/", "/(?<x>.)/u", "/b|c/gi", "/^./m", "/[^,]+/g"];

const number: Make = (pick, depth) =>
  depth <= 0
    ? pick(NUMBERS)
    : pick<Make>([
        () => pick(NUMBERS),
        (p, d) =>
          `(${number(p, d - 1)} ${p(["+", "-", "*", "/", "%", "|", "&", "^", "<<", ">>", ">>>"])} ${number(p, d - 1)})`,
        (p, d) =>
          `Math.${p(["floor", "ceil", "round", "trunc", "abs", "sign", "sqrt", "fround"])}(${number(p, d - 1)})`,
        (p, d) => `Math.${p(["max", "min"])}(${number(p, d - 1)}, ${number(p, d - 1)})`,
        (p, d) => `${text(p, d - 1)}.length`,
        (p, d) => `Number(${text(p, d - 1)})`,
        (p, d) => `parseInt(${text(p, d - 1)}, ${p(["10", "16", "2"])})`,
        (p, d) => `${list(p, d - 1)}.reduce((x, y) => x + (Number(y) || 1), 0)`,
        (p, d) =>
          `(${number(p, d - 1)} ${p(["<", ">", "===", "<="])} ${number(p, d - 1)} ? ${number(p, 0)} : ${number(p, 0)})`,
        (p) => p(NAMES),
      ])(pick, depth);

const text: Make = (pick, depth) =>
  depth <= 0
    ? pick(TEXTS)
    : pick<Make>([
        () => pick(TEXTS),
        (p, d) => `(${text(p, d - 1)} + ${number(p, d - 1)})`,
        (p, d) => `\`\${${number(p, d - 1)}}:\${${text(p, d - 1)}}\``,
        (p, d) =>
          `${text(p, d - 1)}.${p(["toUpperCase()", "trim()", "at(-1)", "slice(1, -1)", 'padStart(6, "-")', "repeat(2)", 'normalize("NFD")', "charAt(1)", 'concat("!")', "toWellFormed()"])} + ""`,
        (p, d) => `${text(p, d - 1)}.replace(${p(PATTERNS)}, ${p(['"<$&>"', "(m, ...r) => m + r.length", '"$1$$"'])})`,
        (p, d) => `${list(p, d - 1)}.join(${p(['"-"', '""', "undefined"])})`,
        (p, d) =>
          `(${number(p, d - 1)}).${p(["toFixed(2)", "toString(2)", "toPrecision(4)", "toString()", "toExponential(2)"])}`,
        (p, d) => `String(${value(p, d - 1)})`,
        (p, d) => `JSON.stringify(${value(p, d - 1)}) + ""`,
        (p, d) => `typeof ${value(p, d - 1)}`,
      ])(pick, depth);

const list: Make = (pick, depth) =>
  depth <= 0
    ? pick(["[]", "[3, 1, 2]", '["b", "a"]', "[1, , 3]", "[[1], [2, [3]]]", '[..."xyz"]', "[1, 2, 3, 4, 5]"])
    : pick<Make>([
        (p, d) => `[${value(p, d - 1)}, ${value(p, d - 1)}, ${number(p, d - 1)}]`,
        (p, d) => `${list(p, d - 1)}.map((x, i) => ${p(["[x, i]", "x", "String(x) + i", "({ x, i })"])})`,
        (p, d) => `${list(p, d - 1)}.filter((x, i) => ${p(["x", "i % 2", "x !== 1"])})`,
        (p, d) =>
          `${list(p, d - 1)}.${p(["toReversed()", "flat()", "slice(1)", "concat([9])", "toSorted()", "toSpliced(0, 1)", "flatMap((x) => [x, x])"])}`,
        (p, d) =>
          `${list(p, d - 1)}.toSorted((x, y) => ${p(["(x > y) - (x < y)", "String(x).length - String(y).length", "0", "x > y ? 1 : -1", "y > x"])})`,
        (p, d) => `Object.${p(["keys", "values", "entries"])}(${record(p, d - 1)})`,
        (p, d) => `${text(p, d - 1)}.split(${p(['","', '""', "/\\d/", "/(b)/"])})`,
        (p, d) =>
          `[...${text(p, d - 1)}.matchAll(${p(PATTERNS.filter((one) => /g/.test(one.slice(-2))))})].map((m) => [...m])`,
        (p, d) => `[...new Set(${list(p, d - 1)})]`,
        (p, d) => `Array.from({ length: ${p(["0", "3", "7"])} }, (_, i) => i * ${number(p, d - 1)})`,
        (p, d) => `[...(function* () { yield ${value(p, d - 1)}; yield* ${list(p, d - 1)}; })()]`,
      ])(pick, depth);

const record: Make = (pick, depth) =>
  pick<Make>([
    () => pick(["({})", "({ b: 1, a: 2, 1: 3 })", '({ "x y": [], z: null })']),
    (p, d) =>
      `({ ${p(NAMES)}: ${value(p, d - 1)}, [${text(p, 0)}]: ${number(p, d - 1)}, ...${d > 0 ? record(p, d - 1) : "{}"} })`,
    (p, d) => `Object.fromEntries([["k", ${value(p, d - 1)}], [${text(p, 0)}, 1]])`,
    (p, d) => `Object.groupBy(${list(p, d - 1)}, (x) => typeof x)`,
    (p, d) => `JSON.parse(JSON.stringify(${d > 0 ? record(p, d - 1) : "{}"}))`,
    (p, d) => `structuredClone({ v: ${p([number, text])(p, d - 1)} })`,
  ])(pick, depth);

const value: Make = (pick, depth) =>
  pick<Make>([
    number,
    text,
    list,
    record,
    () =>
      pick([
        "null",
        "undefined",
        "true",
        "10n",
        "new Date(86400000)",
        "new Map([[1, 2]])",
        "Symbol.iterator",
        "/x/g",
        "new Uint8Array([1, 300])",
      ]),
  ])(pick, depth);

const statement: Make = (pick, depth) =>
  pick<Make>([
    (p, d) => `out.push(show(${value(p, d)}));`,
    (p, d) => `${p(NAMES)} = ${p([number, text])(p, d)};`,
    (p, d) => `console.${p(["log", "info", "warn", "error"])}(${value(p, d)}, ${p(NAMES)});`,
    (p, d) => `out.push(show(await tools.echo({ ${p(NAMES)}: ${number(p, d)}, t: ${text(p, d)} })));`,
    (p) => `try { await tools.fail({ n: ${number(p, 1)} }); } catch (error) { out.push(error.code + error.message); }`,
    (p, d) =>
      `for (let i = 0; i < ${p(["2", "3", "5"])}; i++) { if (i === ${p(["1", "2", "9"])}) ${p(["continue", "break"])}; ${statement(p, d - 1)} }`,
    (p, d) => `for (const item of ${list(p, d)}) { out.push(show(item)); }`,
    (p, d) => `for (const key in ${record(p, d)}) out.push(key);`,
    (p, d) => `if (${value(p, d)}) { ${statement(p, d - 1)} } else { ${statement(p, d - 1)} }`,
    (p, d) =>
      `switch (${number(p, d)}) { case 0: out.push("zero"); case 1: out.push("one"); break; default: ${statement(p, d - 1)} }`,
    (p, d) =>
      `out.push(show(await Promise.all([tools.echo({ x: ${number(p, d)} }), ${value(p, d)}, (async () => ${value(p, d)})()])));`,
    (p, d) =>
      `{ const [first, ...rest] = ${list(p, d)}; const { ${p(NAMES)}: picked = ${number(p, 0)} } = ${record(p, d)}; out.push(show([first, rest, picked])); }`,
    (p, d) =>
      `{ class Base { #n = ${number(p, d)}; get n() { return this.#n; } static of(...all) { return all.length; } } class Sub extends Base { n2 = [this.n]; toString() { return "sub" + this.n; } } out.push(\`\${new Sub()}\`, show(new Sub()), Sub.of(1, 2)); }`,
    (p, d) =>
      `try { if (${number(p, d)} > 0) throw ${p(['new Error("own")', '"text"', "{ code: 1 }", "null"])}; } catch (error) { out.push(show(error?.message ?? error)); } finally { ${statement(p, d - 1)} }`,
    (p, d) =>
      `{ const counts = new Map(); for (const c of ${text(p, d)}) counts.set(c, (counts.get(c) ?? 0) + 1); out.push(show(counts)); }`,
    (p, d) =>
      `{ const order = []; await Promise.all([0, 1, 2].map(async (n) => { for (let i = 0; i < n; i++) await null; order.push(n); })); order.push(await new Promise((done) => setTimeout(done, 0, ${number(p, d)}))); out.push(show(order)); }`,
    (p, d) =>
      `{ const add = (x) => (y = ${number(p, d)}) => { a = x; return [x, y, a]; }; out.push(show(add(${value(p, d)})())); }`,
    (p, d) =>
      `out.push(show(new Date(${number(p, d)})), new Date(Date.UTC(2026, ${p(["0", "1", "11"])}, ${p(["1", "31", "-3"])})).toISOString());`,
  ])(pick, Math.max(0, depth));

/** The body of an async function; it ends by itself. */
export function generateProgram(seed: number): string {
  const pick = choicesFrom(seed);
  const statements = Array.from(
    { length: pick([3, 5, 8, 12]) },
    () => `try { ${statement(pick, pick([1, 2, 3]))} } catch (error) { out.push(error?.name ?? show(error)); }`,
  );
  return `${PRELUDE}let [a, b, c] = [1, 2, 3];\nconst out = [];\n${statements.join("\n")}\n${pick(["return out;", "return { out, a, b, c };", "console.log(out.length); return out.join();"])}`;
}
