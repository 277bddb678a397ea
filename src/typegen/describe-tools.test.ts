/** The whole API, and descriptions by tool and namespace, of unknown names and of too many tools. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId, parseDigest, parseToolAddress } from "../domain/index.ts";
import type { CatalogSnapshot, JsonSchema, Tool, ToolAddress } from "../domain/index.ts";
import { MAX_API_CHARACTERS, declareApi } from "./declare-api.ts";
import { MAX_DESCRIBED_CHARACTERS, describeInSlices, describeTools } from "./describe-tools.ts";

function known<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}

const digestOf = (digit: string) => known(parseDigest(`sha256:${digit.repeat(64)}`));
const address = (name: string): ToolAddress => known(parseToolAddress(name));

function toolOf(name: string, input: JsonSchema = { type: "object" }): Tool {
  return {
    address: address(name),
    origin: { kind: "upstream", connector: known(parseConnectorId("up")), remoteName: name },
    summary: `About ${name}`,
    description: `About ${name}`,
    input,
    output: { type: "string" },
    effect: "read",
    digest: digestOf("0"),
  };
}

function snapshotOf(digit: string, tools: readonly Tool[]): CatalogSnapshot {
  const groups = Object.entries(Object.groupBy(tools, (tool) => tool.address.split(".")[0] ?? ""));
  return {
    digest: digestOf(digit),
    takenAt: 0,
    tools: new Map(tools.map((tool) => [tool.address, tool])),
    namespaces: groups.map(([name, own = []]) => ({
      name,
      connector: known(parseConnectorId("up")),
      summary: "",
      tools: own.map((tool) => tool.address.slice(name.length + 1)),
    })),
  };
}

const SMALL = snapshotOf("a", [toolOf("files.read"), toolOf("files.write"), toolOf("git.push")]);
const NEAREST = (name: string): readonly ToolAddress[] => (name === "files.raed" ? [address("files.read")] : []);
const explainEmpty = (connector: string): string => `${connector} is down\n*/ evil. Start it`;
const OPTIONS = { detail: "types", findNearest: NEAREST, explainEmpty } as const;

const declared = (name: string): string => `  /** About ${name} (read) */
  ${name.split(".")[1]}(args?: Record<string, unknown>): Promise<string>;`;

describe("the API of a snapshot", () => {
  it("declares one global per namespace in addition to the fixed ones", () => {
    const surface = declareApi(SMALL);
    assert.equal(surface.snapshot, SMALL.digest);
    assert.deepEqual(surface.namespaces, SMALL.namespaces);
    const own = surface.declarations.slice(surface.declarations.indexOf("declare const files"));
    assert.equal(
      own,
      `declare const files: {\n${declared("files.read")}\n${declared("files.write")}\n};
declare const git: {\n${declared("git.push")}\n};\n`,
    );
    assert.match(surface.declarations, /^declare const input: any;$/m);
    assert.match(surface.declarations, /^declare class ToolError extends Error \{$/m);
  });
  it("the API of a snapshot does not declare learned result types", () => {
    const tool = { ...toolOf("files.read"), output: null, learned: { type: "string" } };
    const surface = declareApi(snapshotOf("d", [tool]));
    assert.match(surface.declarations, /read\(args\?: Record<string, unknown>\): Promise<any>;/);
  });
  it("the API of a snapshot is created once per digest, and dropped after four others", () => {
    const surface = declareApi(SMALL);
    assert.equal(declareApi({ ...SMALL, takenAt: 1 }), surface);
    for (const digit of ["1", "2", "3"]) declareApi({ ...SMALL, digest: digestOf(digit) });
    assert.equal(declareApi(SMALL), surface);
    for (const digit of ["1", "2", "3", "4"]) declareApi({ ...SMALL, digest: digestOf(digit) });
    assert.notEqual(declareApi(SMALL), surface);
  });
  it("the API of a snapshot stays within its size limit for any servers", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 900 }, (_, at) => [`property${at}`, { type: "string" }]),
    );
    const tools = Array.from({ length: 400 }, (_, at) => toolOf(`big.tool${at}`, { type: "object", properties }));
    const { declarations } = declareApi(snapshotOf("b", tools));
    assert.ok(declarations.length < MAX_API_CHARACTERS * 1.05);
    assert.match(declarations, /tool399\(args\?: Record<string, unknown>\): Promise<any>;/);
  });
});

describe("describe", () => {
  it("declares a tool or a whole namespace, each tool once", () => {
    assert.deepEqual(describeTools(SMALL, ["git.push", "files", "files.read"], OPTIONS), {
      declarations: `declare const git: {\n${declared("git.push")}\n};
declare const files: {\n${declared("files.read")}\n${declared("files.write")}\n};\n`,
      tools: ["git.push", "files.read", "files.write"],
      unknown: [],
    });
  });
  it("suggests the nearest tools for unknown names", () => {
    assert.deepEqual(describeTools(SMALL, ["files.raed", "constructor", 'a"\n// evil'], OPTIONS), {
      declarations: `// Unknown name "files.raed". Did you mean files.read?
// Unknown name "constructor". Use search to find tools
// Unknown name "a\\" // evil". Use search to find tools\n`,
      tools: [],
      unknown: [
        { name: "files.raed", nearest: ["files.read"] },
        { name: "constructor", nearest: [] },
        { name: 'a" // evil', nearest: [] },
      ],
    });
  });
  it("explains why a namespace and names in it have no tools", () => {
    const connector = known(parseConnectorId("up"));
    const empty = { name: "billing", connector, summary: "", tools: [] };
    const snapshot = { ...SMALL, namespaces: [...SMALL.namespaces, empty] };
    const { declarations, unknown } = describeTools(snapshot, ["billing", "billing.pay", "git"], OPTIONS);
    const why = "up is down *\\/ evil. Start it";
    assert.deepEqual(unknown, [
      { name: "billing", nearest: [], empty: why },
      { name: "billing.pay", nearest: [], empty: why },
    ]);
    assert.ok(declarations.startsWith(`// ${why}\n// ${why}\ndeclare const git`));
  });
  it("accepts 100 names and refuses 101", () => {
    const names = Array.from({ length: 101 }, () => "files.read");
    assert.deepEqual(describeTools(SMALL, names.slice(1), OPTIONS).tools, ["files.read"]);
    assert.throws(() => describeTools(SMALL, names, OPTIONS), { code: "REQUEST_INVALID" });
  });
  it("describes the globals of every program", () => {
    const { declarations, tools, unknown } = describeTools(SMALL, ["glovebox", "git.push"], OPTIONS);
    assert.match(declarations, /^declare class ToolError[^]*^declare const console[^]*^declare const git: \{$/m);
    assert.deepEqual({ tools, unknown }, { tools: ["git.push"], unknown: [] });
  });
  it("returns an empty description for no names", () => {
    assert.deepEqual(describeTools(SMALL, [], OPTIONS), { declarations: "", tools: [], unknown: [] });
  });
  it("shortens tools to one line, then counts them, above the size limit", () => {
    const tools = Array.from({ length: 2000 }, (_, at) => toolOf(`big.tool${at}`));
    const { declarations } = describeTools(snapshotOf("c", tools), ["big"], OPTIONS);
    assert.ok(declarations.length < MAX_DESCRIBED_CHARACTERS * 1.1);
    assert.match(declarations, /^\/\/ The size limit is reached: the tools below have one line each\./m);
    assert.match(declarations, /^\/\/ \d+ more tools are not shown\. Use search, then describe them by name\.$/m);
  });
});

/** A tool whose schema counts how often its properties are read. */
function countedTool(name: string, reads: string[], properties: JsonSchema): Tool {
  const input = Object.defineProperty({ type: "object" }, "properties", {
    enumerable: true,
    get: () => {
      reads.push(name);
      return properties;
    },
  });
  return toolOf(name, input);
}

describe("the cost of describe", () => {
  it("converts the schema of a tool once for each detail", () => {
    const reads: string[] = [];
    const snapshot = snapshotOf("e", [countedTool("big.tool", reads, { a: { type: "string" } })]);
    const first = describeTools(snapshot, ["big.tool"], OPTIONS);
    const converted = reads.length;
    assert.ok(converted > 0);
    assert.deepEqual(describeTools(snapshot, ["big"], OPTIONS), first);
    assert.equal(reads.length, converted);
    describeTools(snapshot, ["big"], { ...OPTIONS, detail: "full" });
    assert.ok(reads.length > converted);
  });
  it("stops writing declarations after twenty that do not fit", () => {
    const reads: string[] = [];
    const wide = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`property${at}`, { type: "string" }]));
    const tools = Array.from({ length: 60 }, (_, at) => countedTool(`big.tool${at}`, reads, wide));
    const { declarations } = describeTools(snapshotOf("f", tools), ["big"], { ...OPTIONS, detail: "full" });
    assert.match(declarations, /^\/\/ big\.tool59\(/m);
    const countReads = (tool: string): number => reads.filter((name) => name === tool).length;
    assert.ok(countReads("big.tool10") > countReads("big.tool59"));
    assert.equal(countReads("big.tool30"), countReads("big.tool59"));
  });
  it("pauses after each name and each tool", () => {
    const work = describeInSlices(SMALL, ["files", "nothing"], OPTIONS);
    let pauses = 0;
    while (work.next().done !== true) pauses += 1;
    assert.equal(pauses, 4);
  });
});

describe("the helpers of the sandbox", () => {
  it("the helpers of the sandbox are described with the other globals and are part of the API", () => {
    const { declarations } = describeTools(SMALL, ["glovebox"], OPTIONS);
    assert.equal(declarations.split("declare function sum").length, 2);
    assert.ok(declareApi(SMALL).declarations.includes("declare function groupBy<T>"));
  });
});

describe("the size of a description", () => {
  const input = { type: "object", properties: { path: { type: "string", description: 'The "path"' } } };
  const tools = Array.from({ length: 40 }, (_, at) => toolOf(`big.tool${at}`, input));
  const snapshot = snapshotOf("8", tools);
  const describeWithin = (maxCharacters: number): string =>
    describeTools(snapshot, ["big"], { ...OPTIONS, maxCharacters }).declarations;
  const whole = describeTools(snapshot, ["big"], OPTIONS).declarations;
  const size = JSON.stringify(whole).length;

  it("has all declarations when they fit", () => {
    assert.equal(describeWithin(size), whole);
    assert.equal(describeWithin(size + 1), whole);
  });
  it("has single lines and says so when they do not fit by a little", () => {
    const text = describeWithin(size - 10);
    assert.match(text, /^\/\/ The size limit is reached: the tools below have one line each\. Describe them by name/m);
    assert.match(text, /^\/\/ big\.tool39\(/m);
  });
  it("stays within any size as a JSON string, and counts every tool", () => {
    for (const maxCharacters of [800, 1_000, 2_000, 4_000, size - 1]) {
      const text = describeWithin(maxCharacters);
      assert.ok(JSON.stringify(text).length <= maxCharacters, `${JSON.stringify(text).length} of ${maxCharacters}`);
      const declared = text.match(/^ {2}tool\d+\(/gm)?.length ?? 0;
      const lines = text.match(/^\/\/ big\.tool\d+\(/gm)?.length ?? 0;
      const missing = Number(/^\/\/ (\d+) more tools are not shown/m.exec(text)?.[1] ?? 0);
      assert.equal(declared + lines + missing, tools.length);
    }
  });
  it("declares the tools that fit although one is too large", () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`property${at}`, { type: "string" }]));
    const large = toolOf("mixed.large", { type: "object", properties: wide });
    const mixed = snapshotOf("6", [large, toolOf("mixed.small", input)]);
    const { declarations } = describeTools(mixed, ["mixed"], { ...OPTIONS, maxCharacters: 2_000 });
    assert.match(declarations, /^ {2}small\(args\?: \{/m);
    assert.match(declarations, /^\/\/ mixed\.large\(/m);
  });
});
