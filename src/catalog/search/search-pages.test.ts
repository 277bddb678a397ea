/** What one answer of a search contains: relevant tools, signatures of the best, within a number of characters. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import type { Tool } from "../../domain/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import { createSnapshot } from "../create-snapshot.ts";
import { parseListing } from "../parse-listing.ts";
import { createSearch } from "./search.ts";
import type { SearchOptions, SearchRequest, SearchResult } from "./search.ts";

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly input?: object;
}

function openSearch(tools: readonly Listed[], server = "files") {
  const connector = parseConnectorId(server) ?? assert.fail();
  const definitions = tools.map(({ input = {}, ...own }) => ({
    ...own,
    input: { type: "object", ...input },
    output: null,
  }));
  const listing = runAtOnce(parseListing(definitions, (text) => text));
  return createSearch(createSnapshot([{ connector, namespace: server, listing }], 0));
}

const namesOf = ({ tools }: SearchResult): readonly string[] => tools.map(({ name }) => name);
const sign = (tool: Tool): string => `${tool.address}(): Promise<any>`;

const MANY = Array.from({ length: 30 }, (_, at) => ({
  name: `read_file_${String(at).padStart(2, "0")}`,
  description: `Reads file number ${at} of the archive. `.repeat(3),
}));

/** All tools of a search, page by page. */
function readAll(search: ReturnType<typeof openSearch>, request: SearchRequest, options: SearchOptions) {
  const pages: SearchResult[] = [];
  for (let cursor: string | undefined; ;) {
    const page = search({ ...request, ...(cursor !== undefined && { cursor }) }, options);
    pages.push(page);
    cursor = page.cursor;
    if (cursor === undefined) return pages;
    assert.ok(pages.length < 100);
  }
}

describe("the relevance of a search", () => {
  const search = openSearch([
    { name: "get_logo", description: "Returns the logo as an image" },
    { name: "list_orders", description: "Lists orders. Each may have an image of the customer." },
    { name: "list_users", description: "Lists users, with an image each." },
    ...Array.from({ length: 20 }, (_, at) => ({ name: `send_mail_${at}`, description: "Sends a mail" })),
  ]);

  it("an answer without a limit ends before tools that are much less relevant than the best", () => {
    assert.deepEqual(namesOf(search({ query: "logo image" })), ["files.getLogo"]);
  });
  it("an answer with a limit has as many tools as match", () => {
    assert.equal(search({ query: "logo image", limit: 3 }).tools.length, 3);
  });
  it("a cursor continues with the less relevant tools", () => {
    const first = search({ query: "logo image" });
    const second = search({ query: "logo image", ...(first.cursor !== undefined && { cursor: first.cursor }) });
    assert.deepEqual(namesOf(second).toSorted(), ["files.listOrders", "files.listUsers"]);
  });
  it("a query that has nothing to do with the tools finds none", () => {
    assert.deepEqual(search({ query: "quantum chromodynamics" }), { tools: [] });
  });
});

describe("deprecated tools", () => {
  const search = openSearch([
    { name: "read_file", description: "Reads a file as text. DEPRECATED: Use read_text_file instead." },
    { name: "read_text_file", description: "Reads the complete contents of a file from the file system as text" },
    { name: "read_old", description: "Deprecated. Reads a file" },
    { name: "find_deprecated_calls", description: "Finds calls of deprecated functions in a file" },
  ]);

  it("deprecated tools come last, whatever their score", () => {
    const names = namesOf(search({ query: "read a file", limit: 10 }));
    assert.equal(names[0], "files.readTextFile");
    assert.deepEqual(names.slice(-2).toSorted(), ["files.readFile", "files.readOld"]);
  });
  it("deprecated tools come last when browsing", () => {
    assert.deepEqual(namesOf(search({})), [
      "files.findDeprecatedCalls",
      "files.readTextFile",
      "files.readFile",
      "files.readOld",
    ]);
  });
});

describe("signatures in an answer", () => {
  const search = openSearch(MANY);

  it("the first five tools of a query have their signatures", () => {
    const { tools } = search({ query: "read file", limit: 8 }, { sign });
    assert.deepEqual(
      tools.map(({ name, signature }) => signature === `${name}(): Promise<any>`),
      [true, true, true, true, true, false, false, false],
    );
  });
  it("long signatures are for the best tool, and others have theirs while they fit", () => {
    const lengths = [900, 200, 101, 100, 1];
    const { tools } = search({ query: "read file" }, { sign: () => "x".repeat(lengths.shift() ?? 0) });
    assert.deepEqual(
      tools.map(({ signature }) => signature?.length),
      [900, 200, undefined, 100, undefined],
    );
  });
  it("tools that are much less relevant than the best are listed without a signature", () => {
    const some = openSearch([
      { name: "read_text", description: "Reads the text of a file" },
      { name: "info", description: "Size and age of a file, read from the disk, and other facts about it" },
    ]);
    const { tools } = some({ query: "read the text of a file", limit: 2 }, { sign });
    assert.deepEqual(
      tools.map(({ name, signature }) => [name, signature !== undefined]),
      [
        ["files.readText", true],
        ["files.info", false],
      ],
    );
  });
  it("browsing has no signatures", () => {
    assert.ok(search({}, { sign }).tools.every((tool) => !("signature" in tool)));
  });
  it("a tool without a signature is listed without", () => {
    assert.ok(search({ query: "read file" }, { sign: () => undefined }).tools.every((tool) => !("signature" in tool)));
  });
  it("secrets are removed from summaries and signatures", () => {
    const hide = (text: string): string => text.replaceAll("archive", "[hidden]").replaceAll("Promise", "[hidden]");
    const { tools } = search({ query: "read file", limit: 1 }, { sign, hide });
    assert.doesNotMatch(JSON.stringify(tools), /archive|Promise/);
  });
});

describe("the size of an answer", () => {
  const search = openSearch(MANY);
  const whole = search({ query: "read file", limit: 3 }, { sign });
  const sizes = whole.tools.map((tool) => JSON.stringify(tool).length + 1);
  const size = sizes.reduce((sum, one) => sum + one, 0);
  const cut = (maxCharacters: number) => search({ query: "read file", limit: 3 }, { sign, maxCharacters });

  it("all tools have their signatures when they fit exactly", () => {
    assert.deepEqual(cut(size), whole);
    assert.deepEqual(cut(size + 1), whole);
  });
  it("the last signature is omitted when one character is missing", () => {
    const { tools } = cut(size - 1);
    assert.deepEqual(
      tools.map(({ signature }) => signature !== undefined),
      [true, true, false],
    );
  });
  it("tools that do not fit are left for the next page", () => {
    assert.deepEqual(cut(size - (sizes[2] ?? 0)).tools.length, 2);
  });
  it("the first tool is listed however little fits", () => {
    const { tools, cursor } = cut(1);
    assert.deepEqual([tools.length, "signature" in (tools[0] ?? {}), typeof cursor], [1, false, "string"]);
  });
  it("every page is within the size, and the pages skip and repeat nothing", () => {
    for (const [maxCharacters, request] of [
      [900, { query: "read file" }],
      [900, { query: "read file", limit: 4 }],
      [1500, { query: "read file", limit: 50 }],
      [700, {}],
    ] as const) {
      const pages = readAll(search, request, { sign, maxCharacters });
      const names = pages.flatMap(namesOf);
      assert.equal(names.length, MANY.length);
      assert.equal(new Set(names).size, MANY.length);
      for (const { tools } of pages) assert.ok(JSON.stringify(tools).length <= maxCharacters);
    }
  });
});

describe("what a query is compared with", () => {
  const search = openSearch([
    {
      name: "get_conditions",
      description: "Conditions at a place",
      input: { properties: { city: { enum: ["Chicago", "Los Angeles"] } } },
    },
    {
      name: "put_entries",
      description: "Puts entries",
      input: { properties: { entries: { type: "array", items: { properties: { nickname: { type: "string" } } } } } },
    },
    { name: "other", description: "Something else", input: { properties: { mode: { const: "turbo" } } } },
  ]);
  for (const [query, name] of [
    ["how is it in chicago", "files.getConditions"],
    ["los angeles", "files.getConditions"],
    ["nicknames", "files.putEntries"],
    ["turbo", "files.other"],
  ] as const)
    it(`"${query}" is compared with values of enums, constants and nested parameters`, () =>
      assert.deepEqual(namesOf(search({ query })), [name]));

  it("schemas with thousands of values and levels are read in part", () => {
    const deep = (levels: number): object =>
      levels === 0 ? {} : { properties: { inner: { type: "object", ...deep(levels - 1) } } };
    const values = ["apple", ...Array.from({ length: 5000 }, (_, at) => `v${at}`), "zeppelin"];
    const wide = { properties: { value: { enum: values } } };
    const big = openSearch([
      { name: "wide", description: "Wide", input: wide },
      { name: "deep", description: "Deep", input: deep(40) },
    ]);
    assert.deepEqual(namesOf(big({ query: "apple" })), ["files.wide"]);
    assert.deepEqual(namesOf(big({ query: "zeppelin" })), []);
  });
});

it("parameters and values of a schema that is a reference are found", () => {
  const body = { type: "object", properties: { urgency: { enum: ["blocker", "minor"] } } };
  const input = { properties: { body: { $ref: "#/$defs/Change" } }, $defs: { Change: body } };
  const search = openSearch([
    { name: "patch_it", description: "Changes a thing", input },
    { name: "patch_other", description: "Changes a thing", input: { properties: { body: { $ref: "#/$defs/Gone" } } } },
  ]);
  assert.deepEqual(namesOf(search({ query: "urgency" })), ["files.patchIt"]);
  assert.deepEqual(namesOf(search({ query: "blocker" })), ["files.patchIt"]);
});

describe("queries in other languages", () => {
  const search = openSearch([
    { name: "read_text", description: "The text of a file" },
    { name: "create_folder", description: "Makes a folder" },
    { name: "navigate", description: "Opens a page in the browser" },
    { name: "documents", description: "All documents" },
  ]);
  for (const [query, name] of [
    ["eine Datei lesen", "files.readText"],
    ["lire le fichier", "files.readText"],
    ["crear una carpeta", "files.createFolder"],
    ["Ordner erstellen", "files.createFolder"],
    ["öffne die Seite", "files.navigate"],
    ["读取文件", "files.readText"],
    ["documentos", "files.documents"],
    ["прочитать файл", "files.readText"],
    ["파일 읽기", "files.readText"],
    ["plik czytaj", "files.readText"],
    ["apri la pagina", "files.navigate"],
  ] as const)
    it(`"${query}" finds ${name}`, () => assert.equal(namesOf(search({ query }))[0], name));

  it("a word that only begins like one of another language is not translated", () => {
    const counted = openSearch([{ name: "count_items", description: "How many items there are" }]);
    assert.deepEqual(namesOf(counted({ query: "quanto" })), ["files.countItems"]);
    assert.deepEqual(namesOf(counted({ query: "quantum" })), []);
  });

  it("earlier queries do not shorten the words that are known", () => {
    for (let count = 0; count < 10; count += 1) {
      assert.deepEqual(namesOf(search({ query: "verzeichnis" })), ["files.createFolder"]);
    }
    assert.deepEqual(namesOf(search({ query: "verzei" })), []);
  });
});
