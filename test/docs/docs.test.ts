/** The documents are true: `scripts/check-docs.ts` checks paths, commands and examples, and this file checks tables. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { checkDocs, readCommands } from "../../scripts/check-docs.ts";
import { DEFAULT_RULES } from "../../src/analysis/rules/check-rules.ts";
import { nameNamespaces, nameTools } from "../../src/catalog/name-tools.ts";
import { createConfigSchema } from "../../src/config/index.ts";
import { listSettingPaths } from "../../src/config/schema/setting-paths.ts";
import { isJsonObject } from "../../src/domain/index.ts";
import type { Json, JsonObject } from "../../src/domain/index.ts";
import { TO_GUEST, TO_HOST } from "../../src/sandbox/wire.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FENCE = "```";

const folder = mkdtempSync(join(tmpdir(), "glovebox-docs-"));
after(() => rmSync(folder, { recursive: true }));

let folders = 0;

/** Checks one document, as `docs/page.md` of a temporary folder. */
function check(...lines: readonly string[]): readonly string[] {
  const root = join(folder, String((folders += 1)));
  mkdirSync(join(root, "docs"), { recursive: true });
  writeFileSync(join(root, "docs", "page.md"), lines.join("\n"));
  return checkDocs(root);
}

function readPage(path: string): string {
  return readFileSync(join(ROOT, "docs", path), "utf8");
}

/** The cells of every table row whose first cell is a code span, without the backticks. */
function readRows(text: string): readonly (readonly string[])[] {
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | ?\|$/g, "").replaceAll("`", "")));
}

describe("check-docs", () => {
  test("check-docs accepts the documents of this repository", () => {
    assert.deepEqual(checkDocs(ROOT), []);
  });

  test("check-docs reports links and paths that do not exist", () => {
    assert.deepEqual(check("[a](missing.md#part) and `src/nowhere.ts`", "", "`docs/` and [b](../absent/)"), [
      "docs/page.md:1 the link leads nowhere: missing.md#part",
      "docs/page.md:1 src/nowhere.ts does not exist",
      "docs/page.md:3 the link leads nowhere: ../absent/",
    ]);
  });

  test("check-docs compares a number with the constant that its mark names", () => {
    const lines = ["ends after 5,000<!-- const sandbox/pool/worker.ts RECYCLE_AFTER --> executions"];
    assert.deepEqual(check(...lines), []);
    assert.deepEqual(check(...lines.map((line) => line.replace("5,000", "1,000"))), [
      "docs/page.md:1 the document has 1,000, but RECYCLE_AFTER of src/sandbox/pool/worker.ts is 5000",
    ]);
    assert.deepEqual(check("after 3<!-- const sandbox/pool/worker.ts NOTHING --> tries"), [
      "docs/page.md:1 src/sandbox/pool/worker.ts has no numeric constant NOTHING",
    ]);
  });

  test("check-docs accepts a marked number in the unit that follows it", () => {
    assert.deepEqual(check("at most 60 s<!-- const timing/durations.ts MINUTE_MS --> later"), []);
    assert.deepEqual(check("after 8 hours<!-- const policy/approvals/covers.ts SESSIONLESS_MS --> it ends"), []);
    assert.deepEqual(check("at most 61 s<!-- const timing/durations.ts MINUTE_MS --> later"), [
      "docs/page.md:1 the document has 61 s, but MINUTE_MS of src/timing/durations.ts is 60000",
    ]);
  });

  test("check-docs refuses two decisions with the same number", () => {
    const root = join(folder, String((folders += 1)));
    mkdirSync(join(root, "docs", "decisions"), { recursive: true });
    for (const name of ["0001-a.md", "0001-b.md", "0002-c.md"]) {
      writeFileSync(join(root, "docs", "decisions", name), `# ${name.slice(0, 4)}: A decision\n`);
    }
    assert.deepEqual(checkDocs(root), ["docs/decisions/0001-b.md:1 another decision has the number 0001"]);
  });

  test("check-docs accepts links and paths that exist, and ignores other text", () => {
    const lines = ["[a](page.md#part), [b](#here), [c](https://example.com/x), `src/main.ts`, `docs/errors/`"];
    assert.deepEqual(check(...lines, "`src/<room>/index.ts`, `dist/nowhere.js`, `[d](gone.md)`, a/b"), []);
  });

  test("check-docs reports npm scripts that do not exist, in spans and blocks", () => {
    assert.deepEqual(check("`npm run nothing` and `npm nonsense`", `${FENCE}sh`, "npm ci", "npm run nil", FENCE), [
      "docs/page.md:1 package.json has no script nothing",
      "docs/page.md:1 package.json has no script nonsense",
      "docs/page.md:4 package.json has no script nil",
    ]);
  });

  test("check-docs accepts npm scripts and npm's own commands", () => {
    assert.deepEqual(
      check("`npm run build`, `npm test`, `npm ci`, npm run prose", `${FENCE}sh`, "npm start", FENCE),
      [],
    );
  });

  test("check-docs reports commands and flags that do not exist", () => {
    const block = [
      `${FENCE}sh`,
      "echo 1 | npx --no-install glovebox run --walls-ms 3",
      "glovebox secrets get NAME --value",
      FENCE,
    ];
    assert.deepEqual(
      check("`glovebox fly` and `npx --no-install glovebox serve --prot 1`", "`glovebox --verbose`", ...block),
      [
        "docs/page.md:1 the command glovebox fly does not exist",
        "docs/page.md:1 glovebox serve has no --prot",
        "docs/page.md:2 glovebox has no --verbose",
        "docs/page.md:4 glovebox run has no --walls-ms",
        "docs/page.md:5 glovebox secrets has no --value",
      ],
    );
  });

  test("check-docs accepts commands and flags that exist, and the word glovebox as a name", () => {
    const block = [
      `${FENCE}sh`,
      "claude mcp add glovebox http://127.0.0.1",
      "npx --no-install glovebox run a.ts --json --no-analysis",
    ];
    assert.deepEqual(check("`glovebox COMMAND`, `glovebox secrets set NAME --config x`, `glovebox --version`"), []);
    assert.deepEqual(check(...block, FENCE, "the glovebox flies"), []);
  });

  test("check-docs refuses a call of npx that may fetch the package of a stranger, and accepts one that cannot", () => {
    const problem = "npx may fetch the package of a stranger; write npx --no-install glovebox";
    assert.deepEqual(
      check("`npx glovebox doctor`", "`npx -y glovebox doctor`", "`npx -p node@24 -p glovebox doctor`"),
      [`docs/page.md:1 ${problem}`, `docs/page.md:2 ${problem}`, `docs/page.md:3 ${problem}`],
    );
    assert.deepEqual(check("`npx --no-install glovebox doctor`", "npx, not glovebox, and `npx cowsay`"), []);
    const root = join(folder, String((folders += 1)));
    for (const [name, text] of [
      ["bad.ts", 'print("npx glovebox run")'],
      ["good.ts", 'print("npx --no-install glovebox run")'],
    ] as const) {
      mkdirSync(join(root, "src"), { recursive: true });
      writeFileSync(join(root, "src", name), text);
    }
    assert.deepEqual(checkDocs(root), [`src/bad.ts:1 ${problem}`]);
  });

  test("check-docs reports unknown error codes, and accepts known codes and prefixes", () => {
    assert.deepEqual(check("LIMIT_TIME, `UPSTREAM_*`, MAX_DEPTH", "`LIMIT_PATIENCE`", FENCE, "TOOL_BROKEN", FENCE), [
      "docs/page.md:2 the error code LIMIT_PATIENCE does not exist",
      "docs/page.md:4 the error code TOOL_BROKEN does not exist",
    ]);
  });

  test("check-docs reports TypeScript that does not compile, at its line, and compiles against the library", () => {
    const good = [`${FENCE}ts`, 'import { createGlovebox } from "glovebox";', "await createGlovebox({});", FENCE];
    const misused = [`${FENCE}ts`, 'import { createGlovebox } from "glovebox";', "createGlovebox(1);", FENCE];
    const found = check(...good, ...misused, `${FENCE}ts`, "const a = 1;", "const b: string = a;", FENCE);
    assert.deepEqual(
      found.map((problem) => problem.slice(0, "docs/page.md:00 TS0000".length)),
      ["docs/page.md:7 TS2345:", "docs/page.md:11 TS2322"],
    );
  });

  test("check-docs reports programs that analysis refuses", () => {
    const found = check(`${FENCE}ts guest`, "const a = await files.read({});", "import b from 'b';", FENCE);
    assert.match(found.join(), /^docs\/page\.md:3 the program is refused: no-external-import: /);
    assert.deepEqual(check(`${FENCE}ts guest`, "const a: number = await files.count();", "a + 1", FENCE), []);
  });

  test("check-docs reports JSON that does not parse and configurations that are refused", () => {
    const [json, jsonc, config] = [
      "{",
      '{ "a": 1 "b": 2 }',
      '{\n  "sandbox": { "concurrency": "${SIZE}", "quue": 1 } }',
    ];
    const blocks = [`${FENCE}json`, json, FENCE, `${FENCE}jsonc`, jsonc, FENCE, `${FENCE}jsonc config`, config, FENCE];
    const found = check(...blocks).map((line) => line.slice(0, line.indexOf(" is wrong")));
    assert.deepEqual(found, [
      "docs/page.md:2 the json block",
      "docs/page.md:5 the jsonc block",
      "docs/page.md:9 the jsonc config block",
    ]);
    const right = [`${FENCE}jsonc config`, '{ "mcpServers": { "a": { "command": "${RUN}" } }, } // fine', FENCE];
    assert.deepEqual(check(...right, `${FENCE}json`, "[1]", FENCE), []);
  });
});

describe("docs/reference", () => {
  test("the configuration page lists every setting with its default and values", () => {
    // Other tables of the page also begin with a path, but only those of settings have a column for values.
    const rows = readRows(readPage("reference/configuration.md")).filter(
      ([path = "", , values]) => values !== undefined && (path.includes(".") || listSettingPaths().includes(path)),
    );
    const listed = rows.map(([path, usual, values = ""]) => [path, usual, values]);
    const words = new Map(listed.map(([path, , values]) => [path, values]));
    const expected = listSettingPaths().map((path) => describeSetting(path, words.get(path)));
    assert.deepEqual(sortRows(listed), sortRows(expected));
  });

  test("the command line page names every command and every flag", () => {
    const page = readPage("reference/command-line.md");
    const missing = [...readCommands()].flatMap(([words, flags]) => {
      const names = [`\`glovebox ${words}`.trim(), ...flags];
      return names.filter((name) => !page.includes(name)).map((name) => `${words}: ${name}`);
    });
    assert.deepEqual(missing, []);
  });

  test("the protocol page has every kind of frame with its number", () => {
    const rows = readPage("reference/guest-protocol.md").matchAll(/^\| (\d+) \| `([A-Z]+)` \| (host|child) \|/gm);
    const listed = Array.from(rows, ([, kind, name, from]) => [name, Number(kind), from]);
    assert.deepEqual(listed, [...listFrames(TO_GUEST, "host"), ...listFrames(TO_HOST, "child")]);
  });

  test("the examples of the naming page are what the rule makes", () => {
    const rows = readRows(readPage("reference/naming.md"));
    const made = rows.map(([name = ""]) => [name, nameTools([name]).get(name), nameNamespaces([name]).get(name)]);
    assert.deepEqual(rows, made);
  });
});

/** The expected row; where the schema has nothing to compare, the text of the page counts. */
function describeSetting(path: string, written: string | undefined): readonly unknown[] {
  const node = findNode(path);
  const usual = node["default"] ?? DEFAULT_RULES[path.replace("analysis.rules.", "")];
  return [path, usual === undefined ? "none" : JSON.stringify(usual), describeValues(node) ?? written];
}

function describeValues(node: JsonObject): string | undefined {
  const { type, minimum, maximum, enum: choices, const: only } = node;
  if (type === "integer") return `${JSON.stringify(minimum)} to ${JSON.stringify(maximum)}`;
  if (type === "boolean") return "true, false";
  if (Array.isArray(choices)) return choices.join(", ");
  return only === undefined ? undefined : JSON.stringify(only).replaceAll('"', "");
}

/** The part of the JSON Schema that describes one setting. */
function findNode(path: string): JsonObject {
  const keys = path.replaceAll("[]", ".[]").split(".");
  const found = keys.reduce<Json | undefined>(findChild, createConfigSchema());
  assert.ok(isJsonObject(found), path);
  return found;
}

function findChild(parent: Json | undefined, key: string): Json | undefined {
  const node = toObjectForm(parent);
  if (!isJsonObject(node)) return undefined;
  if (key === "*") return node["additionalProperties"];
  return key === "[]" ? node["items"] : isJsonObject(node["properties"]) ? node["properties"][key] : undefined;
}

/** For a value that can be written in two ways, the object form. */
function toObjectForm(node: Json | undefined): Json | undefined {
  const forms = isJsonObject(node) && Array.isArray(node["anyOf"]) ? node["anyOf"] : [];
  return forms.find((form: Json) => isJsonObject(form) && isJsonObject(form["properties"])) ?? node;
}

function sortRows(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return rows.toSorted(([a], [b]) => String(a).localeCompare(String(b)));
}

function listFrames(frames: Readonly<Record<string, number>>, from: string): readonly (readonly unknown[])[] {
  return Object.entries(frames).map(([name, kind]) => [name, kind, from]);
}
