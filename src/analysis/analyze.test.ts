import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Script } from "node:vm";
import * as fc from "fast-check";
import { DEFAULT_LIMITS, parseConnectorId } from "../domain/index.ts";
import { DEFAULT_RULES, analyze, toAuthorPosition } from "./index.ts";
import type { AnalysisOptions, AnalysisResult } from "./index.ts";

const connector = parseConnectorId("tools");
assert.ok(connector);
const SURFACE = { namespaces: [{ name: "tools", connector, summary: "", tools: ["each", "echo", "fail"] }] };
const OPTIONS: AnalysisOptions = { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true, rules: {} };

const check = (source: string, options: Partial<AnalysisOptions> = {}): AnalysisResult =>
  analyze(source, SURFACE, { ...OPTIONS, ...options });

interface Corpus {
  readonly bad: readonly { readonly id: string; readonly code: string; readonly refused: string | null }[];
  readonly good: readonly { readonly id: string; readonly code: string }[];
}

function parseCorpus(text: string): Corpus {
  return JSON.parse(text) as Corpus;
}

const CORPUS = parseCorpus(readFileSync(new URL("./corpus.json", import.meta.url), "utf8"));

/** Compiles a program as the sandbox does, without running it. */
function compiles(analyzed: AnalysisResult): boolean {
  if (!analyzed.ok) return false;
  return Boolean(new Script(`(async () => {"use strict";\n${analyzed.program.javascript}\n})`));
}

test("analyze turns a fenced TypeScript source into a complete program", () => {
  const source = "```ts\nconst r: number = await tools.echo(1);\nr\n```";
  const javascript = "     \nconst r         = await tools.echo(1);\nreturn (r)\n   ";
  assert.deepEqual(check(source), {
    ok: true,
    program: {
      digest: `sha256:${createHash("sha256").update(javascript).digest("hex")}`,
      source,
      checkable: "     \nconst r: number = await tools.echo(1);\nr\n   ",
      javascript,
      insertions: [
        { offset: 45, length: 8 },
        { offset: 54, length: 1 },
      ],
      calls: [{ address: "tools.echo", times: "once", when: "always", line: 2, column: 25 }],
      mentioned: ["tools"],
      findings: [
        {
          rule: "normalized",
          severity: "info",
          message: "The markdown fence around the program was removed",
          line: 1,
          column: 1,
        },
      ],
    },
  });
});

test("analyze refuses a program with a code, a position and a hint", () => {
  assert.deepEqual(check('await tools.echo(1);\neval("1")'), {
    ok: false,
    error: {
      code: "PROGRAM_FORBIDDEN",
      message: "no-eval: `eval` turns text into code",
      retry: false,
      hint: "Write the code itself instead of text that holds it",
      line: 2,
      column: 1,
      frame: ["  1 | await tools.echo(1);", '> 2 | eval("1")', "    | ^"].join("\n"),
    },
    findings: [
      {
        rule: "no-eval",
        severity: "error",
        message: "`eval` turns text into code; write the code itself instead of text that holds it",
        line: 2,
        column: 1,
      },
    ],
  });
});

test("toAuthorPosition maps a position in the program to the author's source", () => {
  const analyzed = check("```ts\nlet a: string\na.b\n```");
  assert.ok(analyzed.ok);
  assert.deepEqual(toAuthorPosition(analyzed.program, 3, 11), { line: 3, column: 3 });
});

test("analyze strips, normalizes and parses even if the rules are off", () => {
  const analyzed = check("eval(1 as any)", { enabled: false });
  assert.equal(analyzed.ok && analyzed.program.javascript, "return (eval(1       ))");
  assert.equal(check("const", { enabled: false }).ok, false);
});

test("analyze blanks a hashbang, also inside a fence", () => {
  for (const source of ["#!/usr/bin/env node\n1", "```js\n#!/usr/bin/env node\n1\n```"]) {
    assert.ok(compiles(check(source)), source);
  }
  assert.equal(check("1\n#!x").ok, false);
});

test("analyze replaces lone surrogates, so that equal digests mean equal programs", () => {
  const one = check("'\ud800'");
  const other = check("'\ufffd'");
  assert.equal(one.ok && one.program.digest, other.ok && other.program.digest);
  assert.ok(one.ok && one.program.javascript.isWellFormed());
});

test("DEFAULT_RULES lists every rule with its default level", () => {
  assert.deepEqual(DEFAULT_RULES, {
    "no-external-import": "error",
    "no-dynamic-import": "error",
    "no-eval": "error",
    "no-dangerous-globals": "error",
    "no-prototype-pollution": "error",
    "no-infinite-loop": "error",
    "no-nested-loops": "off",
    "no-tool-in-loop": "warn",
    "no-unhandled-async": "warn",
    "no-unawaited-call": "warn",
    "no-invisible-characters": "warn",
    "max-source-size": "warn",
  });
});

for (const { id, code } of CORPUS.good) {
  test(`accepts ${id} without an error`, () => {
    const analyzed = check(code);
    const findings = analyzed.ok ? analyzed.program.findings : analyzed.findings;
    assert.deepEqual(
      findings.filter(({ severity }) => severity === "error"),
      [],
    );
    assert.ok(compiles(analyzed));
  });
}

for (const { id, code, refused } of CORPUS.bad) {
  test(`${refused === null ? "leaves to the sandbox" : "refuses"} ${id}`, () => {
    const analyzed = check(code);
    assert.equal(analyzed.ok ? null : analyzed.error.code, refused);
    assert.equal(compiles(analyzed), refused === null);
  });
}

const fill = (unit: string): string => unit.repeat(Math.floor(DEFAULT_LIMITS.sourceBytes / unit.length) - 8);

test("analyze handles 256 kB of hostile but shallow source", () => {
  const sources = [";", "a+", "\0", "/[)", "eval;"];
  const codes = sources.map((unit) => check(fill(unit))).map((analyzed) => (analyzed.ok ? "ok" : analyzed.error.code));
  const allowed = new Set(["ok", "PROGRAM_SYNTAX", "PROGRAM_FORBIDDEN", "LIMIT_SIZE"]);
  assert.deepEqual(
    codes.filter((code) => !allowed.has(code)),
    [],
  );
});

/** Whatever comes in, the answer is a program that compiles or a refusal that is not our own bug. */
function answersWell(source: string): void {
  const analyzed = check(source);
  if (!analyzed.ok) return assert.notEqual(analyzed.error.code, "INTERNAL_BUG");
  assert.ok(compiles(analyzed));
}

test("analyze never throws for random source", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), answersWell));
});

test("analyze never throws for mutated programs", () => {
  const fragments = [
    "(",
    ")",
    "{",
    "}",
    "`",
    "${",
    "<T>",
    "=>",
    "\n",
    ";",
    "export default ",
    "return ",
    "//",
    "/*",
    ": any",
    "'",
  ];
  const mutation = fc.tuple(fc.nat(90), fc.nat(3), fc.constantFrom("", ...fragments));
  const program = fc.constantFrom(...CORPUS.good.map(({ code }) => code));
  const mutated = fc
    .tuple(program, fc.array(mutation, { maxLength: 4 }))
    .map(([code, mutations]) =>
      mutations.reduce((text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut), code),
    );
  fc.assert(fc.property(mutated, answersWell), { numRuns: 300 });
});
