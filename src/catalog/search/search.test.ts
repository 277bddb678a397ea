/** Search as a model uses it: synonyms, typos, plurals, filters, browsing and paging. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import { GloveboxError, parseConnectorId } from "../../domain/index.ts";
import { runAtOnce } from "../../timing/index.ts";
import { createSnapshot } from "../create-snapshot.ts";
import { findNearest, findSpelled } from "./find-nearest.ts";
import { parseListing } from "../parse-listing.ts";
import { createSearch } from "./search.ts";
import { splitWords } from "./split-terms.ts";
import type { SearchRequest } from "./search.ts";

/** Far above what a hundred bounded searches take, far below what unbounded ones would. */
const AT_ONCE_MS = 5_000;

type Definition = readonly [name: string, description: string, properties?: readonly string[]];

function contribution(server: string, tools: readonly Definition[]) {
  const connector = parseConnectorId(server);
  assert.ok(connector);
  const definitions = tools.map(([name, description, properties = []]) => ({
    name,
    description,
    input: { type: "object", properties: Object.fromEntries(properties.map((property) => [property, {}])) },
    output: null,
    annotations: name.startsWith("delete") ? { destructive: true } : { readOnly: true },
  }));
  return {
    connector,
    namespace: server.replace("-", ""),
    listing: runAtOnce(parseListing(definitions, (text) => text)),
  };
}

const SNAPSHOT = createSnapshot(
  [
    contribution("github", [
      ["list_issues", "Lists the issues of a repository", ["owner", "assignee"]],
      ["create_pull_request", "Opens a pull request"],
      ["list_pull_requests", "Lists pull requests of a repository"],
      ["delete_branch", "Deletes a branch"],
      ["get_project", "One project"],
    ]),
    contribution("chat-app", [
      ["sendMessage", "Sends a message to a channel"],
      ["listChannels", "All channels"],
    ]),
    contribution("files", [
      ["make_folder", "Makes a folder"],
      ["remove_file", "Removes a file"],
      ["read_text", "The text of a file"],
    ]),
  ],
  0,
);
const search = createSearch(SNAPSHOT);
const found = (request: SearchRequest): readonly string[] => search(request).tools.map((tool) => tool.name);
const nearest = (name: string): readonly string[] => findNearest(SNAPSHOT, name, 2);
const best = (query: string): string | undefined => found({ query })[0];

describe("a query", () => {
  it("finds tools by name in any style, with plurals and typos", () => {
    assert.equal(best("listIssues"), "github.listIssues");
    assert.equal(best("list-issue"), "github.listIssues");
    assert.equal(best("isues"), "github.listIssues");
    assert.equal(best("mesage"), "chatapp.sendMessage");
    assert.equal(best("send messages"), "chatapp.sendMessage");
    assert.equal(best("chan"), "chatapp.listChannels");
  });
  it("finds tools by synonyms", () => {
    assert.deepEqual(found({ query: "pr" }).slice(0, 2).toSorted(), [
      "github.createPullRequest",
      "github.listPullRequests",
    ]);
    assert.equal(best("open new pr"), "github.createPullRequest");
    assert.equal(best("delete file"), "files.removeFile");
    assert.equal(best("remove branch"), "github.deleteBranch");
    assert.equal(best("dir"), "files.makeFolder");
    assert.equal(best("msg"), "chatapp.sendMessage");
  });
  it("finds tools by the plural of an acronym", () => {
    assert.equal(best("list PRs"), "github.listPullRequests");
    assert.deepEqual(found({ query: "PRs" }).slice(0, 2), found({ query: "pr" }).slice(0, 2));
    const acronyms = ["PRs", "getURLs", "listIDsOf", "APIs?", "ÜRLs", "USs", "ISsue"].map(splitWords);
    assert.deepEqual(acronyms, [["pr"], ["get", "url"], ["list", "id", "of"], ["api"], ["ürl"], ["us"], ["i", "ssue"]]);
  });
  it("finds tools by word forms, joined words and split words", () => {
    assert.equal(best("deleting branches"), "github.deleteBranch");
    assert.equal(best("deleted branch"), "github.deleteBranch");
    assert.equal(best("pullrequest create"), "github.createPullRequest");
    assert.equal(best("list_pullrequests"), "github.listPullRequests");
  });
  it("ignores stop words in a sentence, and prefers a server that it names", () => {
    assert.equal(best("please could you show me all of the issues that we have"), "github.listIssues");
    assert.equal(best("I want to tell everybody in the chat about it"), "chatapp.sendMessage");
    assert.deepEqual(found({ query: "github" }).length, 5);
    assert.deepEqual(found({ query: "send it to someone@files.example" })[0], "chatapp.sendMessage");
  });
  it("uses stop words if a query has nothing else", () => {
    assert.deepEqual(found({ query: "of a" }).includes("github.listIssues"), true);
  });
  it("finds tools by parameter, but ranks matching names higher", () => {
    assert.deepEqual(found({ query: "assignee" }), ["github.listIssues"]);
    assert.equal(best("project"), "github.getProject");
  });
  it("returns no tools if nothing matches", () => {
    assert.deepEqual(search({ query: "zzzzzz" }), { tools: [] });
  });
  it("returns what a model needs to choose a tool", () => {
    assert.deepEqual(search({ query: "delete branch", limit: 1 }).tools, [
      {
        name: "github.deleteBranch",
        summary: "Deletes a branch",
        effect: "destroy",
        server: "github",
        upstreamName: "delete_branch",
      },
    ]);
  });
  it("filters by effect and by either name of a server", () => {
    assert.deepEqual(found({ query: "delete", effect: "destroy" }), ["github.deleteBranch"]);
    assert.deepEqual(found({ query: "list", server: "chat-app" }), ["chatapp.listChannels"]);
    assert.deepEqual(found({ query: "list", server: "chatapp" }), ["chatapp.listChannels"]);
    assert.deepEqual(found({ query: "channels", server: "github" }), []);
  });
  it("refuses an unknown server and suggests the nearest", () => {
    const said = { code: "REQUEST_NOT_FOUND", message: 'Unknown server "chat-ap"' };
    assert.throws(
      () => found({ server: "chat-ap" }),
      (error: unknown) => {
        assert.ok(error instanceof GloveboxError);
        assert.deepEqual({ code: error.code, message: error.message }, said);
        assert.match(error.details.hint ?? "", /^Did you mean chatapp\? Servers: chatapp, /);
        return true;
      },
    );
    assert.throws(() => found({ server: "" }), { code: "REQUEST_NOT_FOUND" });
  });
  it("accepts any characters up to the maximum length of a query", () => {
    assert.deepEqual(found({ query: "z".repeat(1000) }), []);
    assert.throws(() => search({ query: "z".repeat(1001) }), { code: "REQUEST_INVALID" });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (query) => search({ query }).tools.length <= 10),
    );
  });
});

describe("browsing", () => {
  const all = [...SNAPSHOT.tools.keys()];

  it("returns all tools in order, page by page", () => {
    const first = search({ limit: 4 });
    const second = search({ limit: 4, query: " ", ...(first.cursor !== undefined && { cursor: first.cursor }) });
    const third = search({ limit: 50, ...(second.cursor !== undefined && { cursor: second.cursor }) });
    assert.deepEqual(
      [first, second, third].flatMap((page) => page.tools.map((tool) => tool.name)),
      all,
    );
    assert.equal(third.cursor, undefined);
  });
  it("returns ten tools per page by default, and 1 to 50 on request", () => {
    assert.deepEqual([found({}).length, found({ limit: 1 }).length, found({ limit: 50 }).length], [10, 1, 10]);
    for (const limit of [0, 51, 1.5, -1, Number.NaN]) {
      assert.throws(() => search({ limit }), { code: "REQUEST_INVALID" });
    }
  });
  it("refuses a cursor of another search or catalog, and an invented one", () => {
    const { cursor = "" } = search({ limit: 2 });
    const other = createSearch(
      createSnapshot(
        [
          contribution("files", [
            ["a", "a"],
            ["b", "b"],
            ["c", "c"],
          ]),
        ],
        0,
      ),
    );
    assert.equal(search({ cursor }).tools.length, 8);
    for (const wrong of [
      "",
      "x",
      "MA",
      `${cursor}x`,
      "Ä".repeat(100),
      Buffer.from("2.0123456789abcdef").toString("base64url"),
    ]) {
      assert.throws(() => search({ cursor: wrong }), { code: "REQUEST_INVALID" }, wrong);
    }
    assert.throws(() => search({ cursor, effect: "read" }), { code: "REQUEST_INVALID" });
    assert.throws(() => other({ cursor }), { code: "REQUEST_INVALID" });
  });
});

describe("the search of a snapshot", () => {
  it("the search of a snapshot is created once per snapshot digest", () => {
    assert.equal(createSearch({ ...SNAPSHOT, takenAt: 7 }), createSearch(SNAPSHOT));
  });
  it("shows upstream names without invisible characters, shortened", () => {
    const hostile = createSnapshot(
      [
        contribution("x", [
          ["a\u202e\u001b[31m", ""],
          ["b".repeat(9000), ""],
        ]),
      ],
      0,
    );
    const names = createSearch(hostile)({}).tools.map((tool) => tool.upstreamName);
    assert.deepEqual(names, ["a[31m", "b".repeat(128)]);
  });
});

describe("the nearest addresses", () => {
  it("the nearest addresses are the addresses with the fewest edits", () => {
    assert.deepEqual(nearest("github.listIssue")[0], "github.listIssues");
    assert.deepEqual(nearest("github.list_issues")[0], "github.listIssues");
    assert.deepEqual(nearest("listIssues")[0], "github.listIssues");
    assert.deepEqual(nearest("slack.sendMessage")[0], "chatapp.sendMessage");
  });
  const similar = createSnapshot(
    [
      contribution("sales", [
        ["get_totals", "DEPRECATED: use get_total_sales"],
        ["get_total_sales", "The sum of all sales"],
        ["old_total", "Gets the total (deprecated)"],
        ["older_total", "Gets the total. DEPRECATED: use get_total_sales"],
      ]),
      contribution("archive", [["get_total", "Counts boxes and lists deprecated ones"]]),
    ],
    0,
  );
  it("the nearest addresses of the named server come first", () => {
    assert.deepEqual(findNearest(similar, "sales.getTotal", 3), ["sales.getTotalSales", "archive.getTotal"]);
    assert.deepEqual(findNearest(similar, "archive.getTotals", 1), ["archive.getTotal"]);
    assert.deepEqual(findNearest(similar, "getTotal", 1), ["archive.getTotal"]);
  });
  it("a deprecated tool is never among the nearest addresses, also under its own name", () => {
    for (const name of ["sales.getTotals", "getTotals", "sales.oldTotals", "oldTotal"]) {
      const near = findNearest(similar, name, 9);
      assert.ok(!near.some((address) => /getTotals$|old(?:er)?Total$/.test(address)), name);
    }
  });
  it("a tool is found by its exact name in any spelling, if only one has it", () => {
    const spelled = (text: string): string | undefined => findSpelled(similar, text);
    for (const text of ["sales.getTotalSales", "sales_get_total_sales", "mcp__sales__get_total_sales"]) {
      assert.equal(spelled(text), "sales.getTotalSales");
    }
    assert.equal(spelled("get_total_sales"), "sales.getTotalSales");
    assert.equal(spelled("get_totals"), "sales.getTotals");
    for (const text of ["", "mcp", "sales", "get_total_sale", "x".repeat(1_000_000)])
      assert.equal(spelled(text), undefined);
    const both = createSnapshot([contribution("a", [["get", ""]]), contribution("b", [["get", ""]])], 0);
    assert.deepEqual([findSpelled(both, "get"), findSpelled(both, "b.get")], [undefined, "b.get"]);
  });
  it("the nearest addresses are empty if no address is similar", () => {
    assert.deepEqual(nearest("zzzzzzzzzzz"), []);
    assert.deepEqual(nearest(""), []);
    assert.deepEqual(nearest("x".repeat(1_000_000)), []);
  });
  it("the nearest addresses are found at once among many that are similar", () => {
    const name = (at: number): string => `${"abcdefghij".repeat(4)}${at}`;
    const tools = Array.from({ length: 10_000 }, (_, at): Definition => [name(at), ""]);
    const crowded = createSnapshot([contribution("x", tools)], 0);
    const before = process.threadCpuUsage(); // a busy machine does not decide
    for (let call = 0; call < 100; call += 1) findNearest(crowded, `x.${"jihgfedcba".repeat(9)}${call}`, 3);
    assert.ok(process.threadCpuUsage(before).user / 1_000 < AT_ONCE_MS);
    assert.deepEqual(findNearest(crowded, `x.${name(17)}_`, 1), [`x.${name(17)}`]);
  });
  it("the nearest addresses are at most as many as requested", () => {
    assert.equal(findNearest(SNAPSHOT, "github.list", 1).length, 1);
    assert.equal(findNearest(SNAPSHOT, "github.listPullRequest", 0).length, 0);
  });
});

describe("preparing a search", () => {
  const MANY = createSnapshot(
    [
      contribution(
        "many",
        Array.from({ length: 200 }, (_, at) => [`get_part_${at}`, `Returns part ${at}`] as const),
      ),
    ],
    2,
  );
  const countPauses = (request: SearchRequest): number => {
    const work = createSearch(MANY).prepare(request);
    let pauses = 0;
    while (work.next().done !== true) pauses += 1;
    return pauses;
  };
  it("preparing a search builds the index of its words once, with pauses", () => {
    assert.equal(countPauses({ query: "" }), 0);
    assert.ok(countPauses({ query: "part 7" }) > 20);
    assert.equal(countPauses({ query: "part 8" }), 0);
    assert.equal(createSearch(MANY)({ query: "part 7" }).tools[0]?.name, "many.getPart7");
  });
});

describe("the index of a search", () => {
  const openLarge = (clock: number) => {
    const tools = Array.from({ length: 300 }, (_, at) => [`tool${clock}_${at}`, `Does thing ${at}`] as const);
    return createSearch(createSnapshot([contribution("large", tools)], clock));
  };
  const countSteps = (...all: readonly Generator<undefined, void>[]): number => {
    let open = [...all];
    let steps = 0;
    for (; open.length > 0; steps += open.length) open = open.filter((one) => one.next().done !== true);
    return steps;
  };

  it("is built once by searches that prepare at the same time", () => {
    const alone = countSteps(openLarge(1).prepare({ query: "thing" }));
    assert.ok(alone > 100, `${alone} steps`);
    const shared = openLarge(2);
    const together = countSteps(...Array.from({ length: 8 }, () => shared.prepare({ query: "thing" })));
    assert.ok(together <= alone + 8, `${together} steps together, ${alone} alone`);
    assert.equal(shared({ query: "thing 7" }).tools[0]?.name, "large.tool27");
    assert.equal(countSteps(shared.prepare({ query: "thing" })), 0);
  });
  it("is finished by a later search if the first one stops", () => {
    const search = openLarge(3);
    const first = search.prepare({ query: "thing" });
    first.next();
    assert.equal(first.return().done, true);
    countSteps(search.prepare({ query: "thing" }));
    assert.equal(search({ query: "thing 7" }).tools[0]?.name, "large.tool37");
  });
});
