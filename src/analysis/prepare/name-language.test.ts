import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS, parseConnectorId } from "../../domain/index.ts";
import { analyze } from "../analyze.ts";

const connector = parseConnectorId("files") ?? assert.fail();
const API = { namespaces: [{ name: "files", connector, summary: "", tools: ["readTextFile"] }] };

/** "runs", or the message of the refusal. */
function answerTo(source: string): string {
  const options = { limits: DEFAULT_LIMITS, enabled: true, blockOnError: true, rules: {} };
  const analyzed = analyze(source, API, options);
  return analyzed.ok ? "runs" : `${analyzed.error.code} ${analyzed.error.message}`;
}

describe("a source in another language", () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    Python: [
      'import json\nprint("a")',
      "def main():\n    return 1\n\nmain()",
      'rows = await files.read_text_file(path="a")\nreturn [row for row in rows if row]',
      'text = await files.read_text_file(path="a")\nprint(text)',
      "for row in rows:\n    print(row)",
      "from datetime import date\ntoday = date.today()",
      "```python\nfor row in rows:\n    print(row)\n```",
    ],
    "a shell script": [
      "cat a.txt | grep TODO",
      "#!/bin/bash\nset -e x",
      "curl -s https://example.com | jq '.items[]'",
      "$ ls -la",
    ],
    SQL: ["SELECT a FROM b WHERE c > 1;", "insert into b (a) values (1)", "update b set a = 1 where c = 2"],
    Go: ['package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("x")\n}'],
    Ruby: ["require 'json'\nputs 1", "files.read.each do |row|\n  puts row\nend"],
    PHP: ["<?php\necho 1;"],
    Rust: ['fn main() {\n    println!("x");\n}'],
    Java: ["import java.util.List;\npublic class A {}"],
    PowerShell: ["$rows = Get-ChildItem\n$rows | Select-Object Name"],
    "a tool call in XML": ['<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>'],
  };
  for (const [language, sources] of Object.entries(cases)) {
    for (const source of sources) {
      it(`is named as ${language}: ${JSON.stringify(source)}`, () => {
        assert.ok(answerTo(source).startsWith(`PROGRAM_SYNTAX This is ${language}, and programs here are TypeScript`));
      });
    }
  }
  it("is answered with the tools that it names, in their own spelling", () => {
    assert.match(
      answerTo('import os\nfiles.read_text_file(path="a")'),
      /such as await files\.readTextFile\(\{ … \}\)$/,
    );
    assert.match(answerTo("import os\nprint(1)"), /such as await server\.tool\(\{ name: value \}\)$/);
  });
});

describe("a command that parses as JavaScript", () => {
  for (const source of ["cat /a/b.json | jq.version", "  ls -la", "grep -r\n"]) {
    it(`is a shell script: ${JSON.stringify(source)}`, () =>
      assert.match(answerTo(source), /^PROGRAM_SYNTAX This is a shell script/));
  }
});

describe("a program in TypeScript", () => {
  for (const source of [
    "let path = 1; await files.readTextFile(path = 2)",
    'const sql = "SELECT a FROM b"; return sql',
    "const echo = 1, cat = 2; return echo + cat",
    "const None = null; return None",
    "```ts\nreturn 1\n```",
    "select: for (const from of [1]) { break select; }",
    "const cat = 4, data = 2, jq = 1;\ncat /data/ 2 | jq",
    "let find = 1; find /2; return find",
  ]) {
    it(`runs: ${JSON.stringify(source)}`, () => assert.equal(answerTo(source), "runs"));
  }
  it("is told which line to remove if its fence is not closed", () => {
    assert.equal(
      answerTo("```ts\nreturn 1"),
      "PROGRAM_SYNTAX The markdown fence ```ts around the program is not closed",
    );
    assert.equal(answerTo("return 1"), "runs");
  });
  it("keeps the words of the parser for an ordinary syntax error", () => {
    for (const source of [
      "const a = ;",
      "return (1",
      "if (a) { b(",
      "const x = await files.readTextFile({ path: 'a' }",
      "foo bar",
    ]) {
      assert.doesNotMatch(answerTo(source), /This is /);
    }
  });
});
