/** What is left when types are gone does what TypeScript's own output does, and nothing in it has moved. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";

import { analyze } from "../../src/analysis/index.ts";
import { DEFAULT_LIMITS } from "../../src/domain/index.ts";
import type { Program } from "../../src/domain/index.ts";
import { compileAll } from "./compile.ts";
import { generateSnippets } from "./generate.ts";

interface Snippet {
  readonly name: string;
  readonly code: string;
}

function readSnippets(): readonly Snippet[] {
  const text = readFileSync(join(import.meta.dirname, "snippets.txt"), "utf8");
  const [, ...parts] = text.split(/^\/\/# (.*)$/mu);
  return parts.flatMap((name, at) => (at % 2 === 0 ? [{ name, code: (parts[at + 1] ?? "").trim() }] : []));
}

function strip(code: string): Program {
  const options = { limits: DEFAULT_LIMITS, enabled: false, blockOnError: true, rules: {} };
  const analyzed = analyze(code, { namespaces: [] }, options);
  assert.ok(analyzed.ok, analyzed.ok ? "" : `${analyzed.error.message} in ${code}`);
  return analyzed.program;
}

/** The value or the failure, written out: objects of another context are never equal to those of this one. */
async function observe(javascript: string): Promise<string> {
  try {
    const program = runInNewContext(`(async () => {"use strict";\n${javascript}\n})`, { SuppressedError });
    return inspect(await program(), { depth: 9 });
  } catch (thrown) {
    return `failed: ${inspect(thrown).split("\n")[0] ?? ""}`;
  }
}

/** The text without what was put in. */
function withoutInserted({ javascript, insertions }: Program): string {
  let [kept, from] = ["", 0];
  for (const { offset, length } of insertions) {
    kept += javascript.slice(from, offset);
    from = offset + length;
  }
  return kept + javascript.slice(from);
}

const snippets = [...readSnippets(), ...generateSnippets()];
const compiled = compileAll(snippets.map(({ code }) => code));

describe("programs with types", () => {
  it("has at least 200 programs with types", () => assert.ok(snippets.length >= 200, String(snippets.length)));

  it("gives the same results as the output of TypeScript", async () => {
    const different: unknown[] = [];
    for (const [at, { name, code }] of snippets.entries()) {
      const theirs = await observe((compiled[at] ?? "").replace(/^export \{\};$/mu, ""));
      const ours = await observe(strip(code).javascript);
      if (ours !== theirs) different.push({ name, code, theirs, ours });
    }
    assert.deepEqual(different, []);
  });

  it("keeps every character at its line and column, or replaces it by a space", () => {
    for (const { name, code } of snippets) {
      const kept = withoutInserted(strip(code));
      assert.equal(kept.length, code.length, name);
      for (let at = 0; at < code.length; at += 1) {
        if (kept[at] === code[at] || kept[at] === " ") continue;
        // A closing parenthesis or an end of statement in place of a type, and the word that declares an alias.
        const isForeseen =
          ");".includes(kept[at] ?? "-") || (kept.startsWith("var   ", at) && code.startsWith("import", at));
        if (kept.startsWith("var   ", at)) at += "import".length;
        assert.ok(isForeseen, `${name}: ${JSON.stringify(kept.slice(at, at + 20))}`);
      }
    }
  });
});

describe("syntax that is not supported", () => {
  for (const [code, hint] of [
    ["@sealed class A {}", "Send one program in TypeScript or JavaScript, written as the body of an async function"],
    ["return <any>b", "Write `value as Type` instead of `<Type>value`"],
  ] as const) {
    it(`refuses ${code} with a hint`, () => {
      const options = { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true, rules: {} };
      const analyzed = analyze(code, { namespaces: [] }, options);
      assert.deepEqual(analyzed.ok ? "" : [analyzed.error.code, analyzed.error.hint], ["PROGRAM_SYNTAX", hint]);
    });
  }
});
