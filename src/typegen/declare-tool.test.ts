/** What a model reads about one tool, at each level of detail. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId, parseDigest, parseToolAddress } from "../domain/index.ts";
import type { JsonSchema, Tool } from "../domain/index.ts";
import { declareTool } from "./declare-tool.ts";

function known<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}

function toolOf(input: JsonSchema, rest: Partial<Tool> = {}): Tool {
  return {
    address: known(parseToolAddress("github.listIssues")),
    origin: { kind: "upstream", connector: known(parseConnectorId("git-hub")), remoteName: "list_issues" },
    summary: "Lists issues",
    description: "Lists issues\n\nof one repository */ evil",
    input,
    output: null,
    effect: "read",
    digest: known(parseDigest(`sha256:${"0".repeat(64)}`)),
    ...rest,
  };
}

const INPUT: JsonSchema = {
  type: "object",
  properties: { owner: { type: "string", description: "x".repeat(130) }, "per-page": { type: "integer" } },
  required: ["owner"],
};

describe("a tool is declared", () => {
  it("as one comment line with detail brief", () => {
    const text = '// github.listIssues({ owner, "per-page"? }) read: Lists issues';
    assert.equal(declareTool(toolOf(INPUT), "brief"), text);
    assert.equal(declareTool(toolOf({ type: "object" }), "brief"), "// github.listIssues() read: Lists issues");
    const guessed = { ...toolOf({ type: "object" }), effect: "destroy", effectSource: "guess" } as const;
    const shown = "// github.listIssues() destroy, guessed from its name: Lists issues";
    assert.equal(declareTool(guessed, "brief"), shown);
  });
  it("with its labels at every level of detail", () => {
    const tool = toolOf({ type: "object" }, { labels: ["private", "external"] });
    assert.equal(declareTool(tool, "brief"), "// github.listIssues() read, private, external: Lists issues");
    assert.match(declareTool(tool, "types"), /\/\*\* Lists issues \(read; private, external\) \*\//);
    assert.match(declareTool(tool, "full"), /Effect: read\. Labels: private, external\. /);
  });
  it("with types and short comments with detail types", () => {
    const tool = toolOf(INPUT, { output: { type: "array", items: {} } });
    assert.equal(
      declareTool(tool, "types"),
      `declare const github: {
  /** Lists issues (read) */
  listIssues(args: {
    /** ${"x".repeat(119)}… */
    owner: string;
    "per-page"?: number;
  }): Promise<any[]>;
};`,
    );
  });
  it("with the whole description and the upstream name with detail full", () => {
    assert.equal(
      declareTool(toolOf(INPUT), "full"),
      `declare const github: {
  /**
   * Lists issues
   * of one repository *\\/ evil
   * Effect: read. Upstream name: "list_issues" of "git-hub"
   * Call: await github.listIssues({ owner: … })
   */
  listIssues(args: {
    /** ${"x".repeat(130)} */
    owner: string;
    "per-page"?: number;
  }): Promise<any>;
};`,
    );
  });
  it("with a note if its schema has a broken reference", () => {
    const dead = { properties: { a: { $ref: "https://example.com/a.json" } } };
    const note = (input: JsonSchema, output: JsonSchema | null) =>
      /The .*checked.*/.exec(declareTool(toolOf(input, { output }), "full"))?.[0];
    assert.equal(note(INPUT, { $ref: "#/$defs/a", $defs: { a: true } }), undefined);
    assert.equal(
      note(dead, null),
      "The arguments are only checked in part: the schema has a reference that cannot be resolved.",
    );
    assert.equal(
      note(dead, dead),
      "The arguments and results are only checked in part: the schema has a reference that cannot be resolved.",
    );
  });
  it("with a note about patterns and formats that arguments are not checked by", () => {
    const tool = toolOf(INPUT, { unchecked: ["pattern of owner: a lookahead", "format of a*/b: not known"] });
    const fact = "not checked by pattern of owner: a lookahead, format of a*\\/b: not known";
    assert.ok(declareTool(tool, "types").includes(`/** Lists issues (read; ${fact}) */`));
    assert.ok(declareTool(tool, "full").includes(`   * The server decides about arguments that are ${fact}.\n`));
    assert.ok(!declareTool(toolOf(INPUT), "full").includes("not checked"));
  });
  it("with the learned result type and a note about it", () => {
    const learned = {
      type: ["object"],
      properties: { id: { type: ["number"] } },
      description: "learned from 3 results",
    };
    const text = declareTool(toolOf({}, { learned }), "types");
    assert.match(text, /^ {2}\/\*\* Lists issues \(read; learned from 3 results\) \*\/$/m);
    assert.match(text, /Promise<\{\n {4}id\?: number;\n {2}\}>;/);
    assert.match(declareTool(toolOf({}, { learned }), "full"), /The result type is learned from 3 results\./);
  });
  it("without the learned result type if the server declares an output schema", () => {
    const text = declareTool(toolOf({}, { output: { type: "string" }, learned: { description: "learned" } }), "types");
    assert.match(text, /\(read\) \*\/[^]*Promise<string>;/);
  });
  it("with a quoted method name for new", () => {
    const address = known(parseToolAddress("github.new"));
    assert.match(declareTool(toolOf({}, { address }), "types"), /^ {2}"new"\(/m);
  });
});

describe("arguments", () => {
  const needy = { required: ["a"] };
  const easy = { properties: { a: true } };

  it("arguments are optional if the schema accepts an empty object", () => {
    const inputs = [{}, easy, { anyOf: [needy, easy] }, { allOf: [easy] }, { $ref: "#/$defs/x", $defs: { x: easy } }];
    assert.deepEqual(inputs.map(mark), ["?", "?", "?", "?", "?"]);
  });
  it("arguments are required if the schema refuses an empty object", () => {
    const inputs = [
      needy,
      { anyOf: [needy, needy] },
      { allOf: [easy, needy] },
      { $ref: "#/$defs/x", $defs: { x: needy } },
    ];
    assert.deepEqual(inputs.map(mark), ["", "", "", ""]);
  });
  it("arguments are required if the schema is too large or circular to decide", () => {
    assert.deepEqual([{ $ref: "#" }, { allOf: Array.from({ length: 200 }, () => easy) }].map(mark), ["", ""]);
    assert.equal(mark({ allOf: Array.from({ length: 199 }, () => easy) }), "?");
  });
});

/** The character after `args` in the declaration. */
function mark(input: JsonSchema): string {
  return /\(args(\??):/.exec(declareTool(toolOf(input), "types"))?.[1] ?? "none";
}
