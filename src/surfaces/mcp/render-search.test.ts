/** The text of a search: tools first, then servers with missing tools. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId, parsePrincipalId } from "../../domain/index.ts";
import type { UpstreamStatus } from "../../domain/index.ts";
import { createToolSearch } from "../../builtins/index.ts";
import { snapshotOf, toolOf } from "../../typegen/fixtures/compile.ts";
import { createSearchAnswer, renderSearch, toServerLine } from "../render-search.ts";

const VIEWER = { id: parsePrincipalId("local") ?? assert.fail() };

function status(name: string, rest: Partial<UpstreamStatus>): UpstreamStatus {
  const id = parseConnectorId(name) ?? assert.fail();
  return { name: id, state: "ready", transport: "stdio", tools: 1, since: 1, ...rest };
}

it("render-search names only servers that are not ready or have withheld tools, with cause and next step", () => {
  const servers = [
    status("good", {}),
    status("partial", { hint: "1 operation is left out" }),
    status("held", { withheld: 2, hint: "2 tools are withheld" }),
    status("down", { state: "failed", cause: "no answer", hint: "Start it", stderr: ["private"] }),
  ];
  assert.equal(
    renderSearch({ tools: [], servers }),
    [
      "No tool found. Try fewer or other words, or an empty query to browse.",
      "Server held is ready: Hint: 2 tools are withheld",
      "Server down is failed: no answer Hint: Start it",
    ].join("\n"),
  );
  assert.deepEqual(servers.map(toServerLine), [
    { name: "good", state: "ready", tools: 1 },
    { name: "partial", state: "ready", tools: 1, hint: "1 operation is left out" },
    { name: "held", state: "ready", tools: 1, withheld: 2, hint: "2 tools are withheld" },
    { name: "down", state: "failed", tools: 1, cause: "no answer", hint: "Start it" },
  ]);
});

const DEEP = "The server could not be started because its command was not found on this machine. ".repeat(3);

/** An answer as a client gets it, from a search that fills its room. */
function answerWith(tokens: number, servers: readonly UpstreamStatus[], query: string) {
  const answer = createSearchAnswer(tokens, query === "");
  const found = createToolSearch({ hide: (text) => text })(VIEWER, MANY, { query, limit: 50 }, answer.roomFor(servers));
  const result = answer.render({ ...found, servers });
  const [block] = result.content;
  const structured = Object(result.structuredContent);
  return { text: block?.type === "text" ? block.text : "", json: JSON.stringify(structured), structured };
}

const MANY = snapshotOf(
  "9",
  Array.from({ length: 60 }, (_, at) =>
    toolOf(`files.readFile${at}`, {
      labels: ["private"],
      effectSource: "reviewed",
      summary: `Reads file ${at} of the archive, with all of its lines and all of its "quoted" words`,
      input: {
        type: "object",
        properties: { path: { type: "string" }, mode: { enum: ["text", "bytes"] } },
        required: ["path"],
      },
    }),
  ),
);

describe("the size of an answer of search", () => {
  const failed = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      status(`server-${at}`, { state: "failed", cause: DEEP, hint: "Start it" }),
    );

  for (const [name, servers, query] of [
    ["without trouble", [status("files", {})], "read file"],
    ["with failed servers", failed(40), "read file"],
    ["of browsing 180 servers", Array.from({ length: 180 }, (_, at) => status(`server-${at}`, {})), ""],
    ["of browsing with failed servers", failed(180), ""],
  ] as const)
    it(`is within its tokens, ${name}, in text and in structured content`, () => {
      for (const tokens of [200, 600, 2_000]) {
        const { text, json, structured } = answerWith(tokens, servers, query);
        assert.ok(json.length / 4 <= tokens, `${json.length / 4} of ${tokens} tokens`);
        assert.ok(text.length / 4 <= tokens);
        assert.ok(structured.tools.length > 0);
      }
    });

  it("has the signatures of the best tools, and a cursor for the others", () => {
    const { text, structured } = answerWith(600, [status("files", {})], "read file");
    assert.match(
      text,
      /^files\.readFile\d+\(args: \{ path: string; mode\?: "text" \| "bytes" \}\): Promise<any> \[read\] Reads file/,
    );
    assert.match(text, /\nMore with cursor: \S+$/);
    assert.deepEqual(Object.keys(structured), ["tools", "cursor"]);
    const fields = ["name", "summary", "effect", "server", "upstreamName", "signature"];
    assert.deepEqual(Object.keys(structured.tools[0]), fields);
  });
  it("names all servers when browsing, and counts those that do not fit", () => {
    const few = answerWith(600, [status("files", { tools: 14 }), status("memory", { tools: 9 })], "");
    assert.match(few.text, /\nServers with their number of tools: files \(14\), memory \(9\)$/);
    assert.equal(few.structured.servers.length, 2);
    const many = answerWith(600, failed(180), "");
    assert.equal(many.structured.servers.length + many.structured.moreServers, 180);
    assert.match(many.text, /\n\d+ more servers are not shown\.$/);
  });
});
