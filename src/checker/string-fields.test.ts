/** Fields that a declared result does not have, wherever a program reads them, and programs that look alike and are right. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";

import { analyze } from "../analysis/index.ts";
import type { AnalysisResult } from "../analysis/index.ts";
import { DEFAULT_LIMITS, parseConnectorId, parseDigest } from "../domain/index.ts";
import type { ApiSurface } from "../domain/index.ts";
import { measureFamily } from "../processes/index.ts";
import { checkProgram } from "./check-program.ts";
import { openChecker } from "./open-checker.ts";

function known<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}

const keeper = { keep: () => undefined, release: () => undefined };
const checker = openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily });
after(() => checker[Symbol.asyncDispose]());

const SURFACE: ApiSurface = {
  snapshot: known(parseDigest(`sha256:${"b".repeat(64)}`)),
  declarations: `declare const input: any;
declare function first<T>(list: readonly T[]): T | undefined;
declare function pick<T extends object, K extends keyof T>(list: readonly T[], ...names: (K | readonly K[])[]): Pick<T, K>[];
declare const glovebox: {
  search(query?: string): Promise<{ tools: { name: string; summary: string }[]; cursor?: string }>;
  results: { read(handle: string): Promise<any> };
};
declare const files: {
  read(args?: { path?: string }): Promise<{ content: string; size: number }>;
  list(): Promise<{ names: string[]; rows: Array<{ id: string; kind: "a" | "b"; open: boolean }>; total: number }>;
  text(): Promise<string>;
  loose(): Promise<{ id: string; [key: string]: unknown }>;
  untyped(): Promise<any>;
  parts(): Promise<{ content: string | Array<{ text: string }> }>;
};
`,
  namespaces: [
    { name: "files", connector: known(parseConnectorId("files")), summary: "", tools: ["list", "read", "text"] },
  ],
};

async function check(source: string): Promise<AnalysisResult> {
  const analyzed = analyze(source, SURFACE, { enabled: false, blockOnError: false, rules: {}, limits: DEFAULT_LIMITS });
  assert.ok(analyzed.ok, source);
  return await checkProgram(analyzed.program, SURFACE, {
    checker,
    principal: { id: "bob", session: "1" },
    guide: {
      nearest: () => [],
      find: () => undefined,
      signature: () => undefined,
      result: () => undefined,
      call: () => undefined,
      isGuessed: () => false,
      isWithheld: () => false,
    },
    level: "error",
    blocks: true,
  });
}

/** The message and the hint of the refusal; `fits` if there is none. */
async function told(source: string): Promise<string> {
  const checked = await check(source);
  return checked.ok ? "fits" : `${checked.error.message} | ${checked.error.hint}`;
}

const READ = "const r = await files.read();";
const CHARACTER: Readonly<Record<string, RegExp>> = {
  [`${READ} return r.content[0].text`]:
    /^r\.content is a string, so r\.content\[0\] is one character and has no text; files\.read .*\| Write: .* return r\.content$/u,
  [`${READ}\nreturn r.content?.[0]?.text`]: /\| Write: return r\.content$/u,
  [`${READ}\nfor (const item of r.content) console.log(item.name)`]:
    /^r\.content is a string, so item is one character .* no name; .*\| Write: for \(const item of r\.content\.split\("\\n"\)\) console\.log\(item\)$/u,
  [`${READ}\nfor (const item of r.content) {\n  console.log(item.name);\n}`]:
    /\| Write: for \(const item of r\.content\.split\("\\n"\)\) \{\nconsole\.log\(item\);$/u,
  [`${READ}\nconst one = r.content[0];\nreturn one.text.length`]:
    /so one is one character.*\| Write: return r\.content\.length$/su,
  [`${READ}\nconst [one] = r.content; return one.text`]: /so one is one character/u,
  "const { content } = await files.read(); const { text } = content[0]; return text":
    /^content is a string, so content\[0\] is/u,
  "const { content: c } = await files.read(); return c.at(0).text": /^c is a string, so c\.at\(0\) is one character/u,
  "return (await files.text())[0].text": /is a string, so .* is one character and has no text; files\.text/u,
  "for (const { name } of (await files.read()).content) console.log(name)": /is a string/u,
  "const [one] = (await files.read({ path: 'a very long path to a file that is read' })).content; return one.text":
    /^\(…\)\.content is a string, so one .*\| Read the declarations/u,
  "const read = async (path) => (await files.read({ path })).content; const t = await read('a'); return t[0].text":
    /^t is a string, so t\[0\] is one character/u,
  "async function read() { const { content } = await files.read(); return content } return (await read())[0].text":
    /is one character and has no text/u,
  "const all = await Promise.all([1, 2].map(() => files.read())); return all.map((r) => r.content[0].text)":
    /^r\.content is a string, so r\.content\[0\] is one character/u,
  "const r = await files.read(); return `${r.content[0].text}`": /^r\.content is a string/u,
  "const r = await files.read(); const copy = { ...r }; return copy.content[0].text": /^copy\.content is a string/u,
};

/** Where no single replacement is right, the answer says what the string may be. */
const ADVICE: Readonly<Record<string, RegExp>> = {
  [`${READ} return r.content.map((c) => c.text)`]:
    /^r\.content is a string and has no map; .*\| Use r\.content as it is, r\.content\.split\("\\n"\) for its lines, or JSON\.parse\(r\.content\) if it is JSON$/u,
  [`${READ} return r.content.version`]:
    /\| Use r\.content as it is, or JSON\.parse\(r\.content\)\.version if it is JSON$/u,
  [`${READ} for (let i = 0; i < r.content.length; i++) console.log(r.content[i].name)`]:
    /so r\.content\[i\] is one character .*\| Use r\.content as it is, r\.content\.split\("\\n"\) for its lines/u,
  [`${READ} for (const i in r.content) console.log(r.content[i].name)`]:
    /\| Use r\.content as it is, r\.content\.split/u,
  [`${READ} if (r.content[0].type === "text") return 1; return 2`]: /\| Use r\.content as it is, or JSON\.parse/u,
};

/** The only field of the result that has such a method or length. */
const HELD: Readonly<Record<string, RegExp>> = {
  "const r = await files.read(); return r.split('\\n')": /\| Write: .* return r\.content\.split\('\\n'\)$/u,
  "const r = await files.read(); return r.trim().length": /\| Write: .* return r\.content\.trim\(\)\.length$/u,
  "const r = await files.list(); return r.map((one) => one)": /\| Read the declarations/u,
  "const { rows } = await files.list(); return rows[0].split('a')": /\| Read the declarations/u,
};

describe("an answer about a string or the field that holds it", () => {
  for (const [source, answer] of Object.entries({ ...ADVICE, ...HELD })) {
    it(`says what to write: ${source}`, async () => assert.match(await told(source), answer));
  }
});

describe("a field of a character of a declared string", () => {
  for (const [source, answer] of Object.entries(CHARACTER)) {
    it(`is refused with the whole string: ${source}`, async () => assert.match(await told(source), answer));
  }
  for (const source of [
    `${READ} return r.content[0].toUpperCase() + r.content.slice(1)`,
    `${READ} for (const letter of r.content) console.log(letter.codePointAt(0), letter.length)`,
    `${READ} const [one] = r.content; return one.toLowerCase()`,
    `${READ} return r.content.split("\\n").map((line) => line.trim()[0]).filter(Boolean)`,
    `${READ} return typeof r.content === "string" ? r.content : r.content[0].text`,
    `${READ} return Array.isArray(r.content) ? r.content[0].text : r.content`,
    "const r = await files.parts(); return typeof r.content === 'string' ? r.content : r.content[0].text",
    "const r = await files.parts(); return r.content[0].text",
    `${READ} let text = r.content; text = JSON.parse(text); return text[0].text`,
    `${READ} const rows: any = r.content; return rows[0].text`,
    `${READ} const rows = JSON.parse(r.content); return rows[0].text`,
    `${READ} const rows = r.content as unknown as { text: string }[]; return rows[0].text`,
    "const r = await files.untyped(); return r.content[0].text",
    "const text = 'abc'; return text[0].text",
    "const parse = (text: string): any => JSON.parse(text); return parse((await files.read()).content)[0].text",
  ]) {
    it(`accepts ${source}`, async () => assert.equal(await told(source), "fits"));
  }
  it("is only a finding if the program has another value for it", async () => {
    assert.equal(await told(`${READ} return r.content?.[0]?.text ?? r.content`), "fits");
  });
});

const LIST = "const r = await files.list();";
const FIELDS: Readonly<Record<string, RegExp>> = {
  [`${LIST} const rows = r.rows; return rows.count`]: /^rows has no count; files\.list/u,
  [`${LIST} const { rows } = r; return { count: rows.total }`]: /^rows has no total; files\.list/u,
  [`${LIST} return r.rows[0].kind.label`]: /^r\.rows\[0\]\.kind is a string and has no label; files\.list/u,
  [`${LIST} return r.rows.map((row) => row.id.value)`]: /^row\.id is a string and has no value; files\.list/u,
  [`${LIST} return r.rows.map(({ id, name }) => name)`]: / has no name; files\.list/u,
  [`${LIST} return r.names.map((n) => n.name)`]: /^n is a string and has no name; files\.list/u,
  [`${LIST} for (const n of r.names) console.log(n.path)`]: /^n is a string and has no path; files\.list/u,
  [`${LIST} return r.rows.filter((row) => row["status"] === "x")`]: /^row has no status; files\.list/u,
  [`${LIST} return r["items"]`]: /^r has no items; files\.list/u,
  [`${LIST} return r?.[\`items\`]`]: /^r has no items; files\.list/u,
  [`${LIST} return r[0]`]: /^r is an object, not an array; files\.list/u,
  [`${LIST} const copy = { ...r, seen: true }; return copy.items`]: /^copy has no items; files\.list/u,
  [`${LIST} const rows = r.rows.map((row) => ({ ...row, seen: true })); return rows.map((row) => row.name)`]:
    /^row has no name; files\.list/u,
  [`${LIST} return pick(r.rows, "id")[0].kind`]: / has no kind/u,
  [`${LIST} return first(r.names).name`]: /^first\(r\.names\) is a string and has no name; files\.list/u,
  [`${LIST} return r.total.count`]: /^r\.total is a number and has no count; files\.list/u,
  [`${LIST} return r.rows[0].open.value`]: /is a boolean and has no value; files\.list/u,
  [`${LIST} return Object.keys(r).map((key) => key.name)`]: /^key is a string and has no name/u,
  [`${LIST} const seen = [...r.names, "x"]; return seen.count`]: /^seen has no count/u,
  "const found = await glovebox.search('x'); return found.results": /^found has no results; glovebox\.search/u,
  "return (await glovebox.search('x')).tools[0].name.text": /is a string and has no text; glovebox\.search/u,
};

describe("a field that a declared result does not have", () => {
  for (const [source, answer] of Object.entries(FIELDS)) {
    it(`is refused: ${source}`, async () => assert.match(await told(source), answer));
  }
  for (const source of [
    `${LIST} return [r["rows"], r.rows[0], r.names[0], r["total"], r.rows.length, r.names[0].length]`,
    `${LIST} const rows = r.rows.map((row) => ({ ...row, seen: true })); return rows[0].seen`,
    `${LIST} const copy = { ...r }; for (const key of ["a", "b"]) copy[key] = 1; return copy.a`,
    `${LIST} const copy = { ...r }; copy.items = []; return copy.items`,
    `${LIST} const copy: any = { ...r }; return copy.items`,
    `${LIST} const row: { name?: string } = { ...r.rows[0] }; return row.name`,
    `${LIST} r["extra"] = 1; return r["extra"]`,
    `${LIST} const key = "items"; return r[key + ""]`,
    `${LIST} const by = {}; for (const row of r.rows) by[row.id] = row; return by["a"]`,
    `${LIST} const own = { a: 1 }; return own["b"]`,
    `${LIST} const rows = r.rows.map((row) => ({ id: row.id })); return rows[0].name`,
    `${LIST} const m = r.names[0].match(/(?<year>\\d+)/); return m?.groups?.year`,
    `${LIST} return Object.entries(r).map(([key, value]) => value)`,
    "const r = await files.loose(); return [r.anything, r['else'], r.id]",
    "const r = await files.untyped(); return [r.a.b, r['c'], r[0].d]",
    "return (await glovebox.results.read('h')).items[0].name",
    "return input.items[0].name",
  ]) {
    it(`accepts ${source}`, async () => assert.equal(await told(source), "fits"));
  }
});

/** The findings of a program that is accepted. */
async function saidOf(source: string): Promise<readonly string[]> {
  const checked = await check(source);
  assert.ok(checked.ok, source);
  return checked.program.findings.map(({ severity, message }) => `${severity}: ${message}`);
}

const NEVER = 'is "a" or "b", never "c"; files.list declares what it returns';

describe("a comparison with a value that is none of the declared choices", () => {
  for (const [source, subject] of [
    [`${LIST} return r.rows.filter((row) => row.kind === "c").length`, "row.kind"],
    [`${LIST} return r.rows.filter((row) => "c" != row.kind).length`, "row.kind"],
    [`${LIST} return r.rows.filter(({ kind }) => kind === \`c\`).length`, "kind"],
    [`${LIST} const { kind } = r.rows[0]; if (kind === "c") return 1; return 2`, "kind"],
    [`${LIST} switch (r.rows[0].kind) { case "a": return 1; case "c": return 2; default: return 3 }`, "r.rows[0].kind"],
  ] as const) {
    it(`is a finding: ${source}`, async () => assert.deepEqual(await saidOf(source), [`warn: ${subject} ${NEVER}`]));
  }
  for (const source of [
    `${LIST} return r.rows.filter((row) => row.kind === "a" || row.kind !== "b").length`,
    `${LIST} const row = r.rows[0]; if (row.kind === "a") { await files.read(); if (row.kind === "b") return 1; } return 2`,
    `${LIST} return r.rows.filter((row) => ["c", "d"].includes(row.kind)).length`,
    `${LIST} return r.rows.filter((row) => row.id === "c" || row.kind.toUpperCase() === "C").length`,
    `${LIST} let kind: string = r.rows[0].kind; kind = "c"; return kind === "c"`,
    `const own: "a" | "b" = "a"; return (own as string) === "c"`,
    `const own: { kind: "a" | "b" } = { kind: "a" }; return own.kind === "c"`,
  ]) {
    it(`is accepted silently: ${source}`, async () => assert.deepEqual(await saidOf(source), []));
  }
});
