/** Large and hostile documents are compiled in a child process: same tools, same errors, and no blocked thread. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { RemoteTool } from "../connector.ts";
import { compileApi } from "./compile-api.ts";
import { compileElsewhere } from "./compile-elsewhere.ts";
import { apiId, createTestConnector } from "./fixtures/test-connector.ts";
import { MAX_OWN_JSON, MAX_OWN_YAML } from "./load-api.ts";

const BASE = "http://127.0.0.1:1";
const REQUEST = {
  id: apiId(),
  baseUrl: BASE,
  documentUrl: undefined,
  include: [],
  exclude: ["op1"],
  headers: ["X-Fixed"],
  auth: ["key"],
};

const toOperation = (index: number): string => `
  /things/{id}/${index}:
    post:
      operationId: op${index}
      parameters:
        - { name: x-fixed, in: header, schema: { type: string } }
        - { name: q, in: query, style: pipeDelimited, schema: { type: array, items: { type: string } } }
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, properties: { file: { type: string, format: binary } } }
            encoding: { file: { style: form } }
      responses: { "200": { description: ok, content: { application/json: { schema: { type: object } } } } }
`;

const toYaml = (operations: number): string =>
  `openapi: 3.1.0
components: { securitySchemes: { key: { type: apiKey, in: query, name: k } } }
paths:
${Array.from({ length: operations }, (_, index) => toOperation(index)).join("")}`;

interface Watched {
  readonly tools: readonly RemoteTool[] | string;
  /** The number of processes that were started; all of them have ended. */
  readonly processes: number;
}

async function load(text: string): Promise<Watched> {
  const alive = new Set<number>();
  let processes = 0;
  const keeper = {
    keep: (pid: number) => {
      processes += 1;
      alive.add(pid);
    },
    release: (pid: number) => alive.delete(pid),
  };
  await using connector = createTestConnector({ baseUrl: BASE }, async () => text, keeper);
  const tools = await connector.tools().catch((error: Error) => error.message);
  assert.equal(alive.size, 0);
  return { tools, processes };
}

/** Pads a text to a length with a comment or white space. */
const padTo = (text: string, characters: number, filler: string): string =>
  text + filler.repeat(characters - text.length);

describe("compiling a document", () => {
  it("a document up to the limit is compiled in the gateway, one character more in a child process, with the same tools", async () => {
    const yaml = `${toYaml(3)}#`;
    const json = '{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{}}}}}';
    for (const [text, most, filler] of [
      [yaml, MAX_OWN_YAML, "#"],
      [json, MAX_OWN_JSON, " "],
    ] as const) {
      const here = await load(padTo(text, most, filler));
      const elsewhere = await load(padTo(text, most + 1, filler));
      assert.deepEqual([here.processes, elsewhere.processes], [0, 1]);
      assert.deepEqual(elsewhere.tools, here.tools);
      assert.ok(here.tools.length > 0);
    }
  });
  it("a document has the same operations and schemes when compiled in either process", async () => {
    const text = toYaml(20);
    const keeper = { keep: () => undefined, release: () => undefined };
    const elsewhere = await compileElsewhere(
      { text, request: REQUEST },
      { keeper, signal: AbortSignal.timeout(30_000) },
    );
    const { head, tools } = compileApi(text, REQUEST);
    assert.deepEqual(elsewhere, { head, tools: [...tools] });
    assert.equal(elsewhere.tools.length, 19);
  });
});

describe("compiling a hostile document", () => {
  const laughs = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${"*a0,".repeat(9)}*a${at}]\n`);
  const REFUSED = "The OpenAPI document cannot be used: ";
  for (const [what, text, why] of [
    [
      "with multiplying aliases",
      `a0: &a0 [x]\n${laughs.join("")}${"#".repeat(MAX_OWN_YAML)}`,
      /^it has neither swagger|^it has too many aliases/,
    ],
    ["with too deep nesting", `a: ${"[".repeat(MAX_OWN_YAML)}`, /^it is neither JSON nor YAML/],
    ["without an API", `a: b ${"#".repeat(MAX_OWN_YAML)}`, /^it has neither swagger/],
  ] as const) {
    it(`a document ${what} is refused with the same message as a short one`, async () => {
      const { tools, processes } = await load(text);
      assert.equal(processes, 1);
      assert.ok(typeof tools === "string" && tools.startsWith(REFUSED), JSON.stringify(tools));
      assert.match(tools.slice(REFUSED.length), why);
    });
  }
  it("a document that takes long does not delay other work", async () => {
    const text = `openapi: 3.1.0\npaths: {}\nx:\n${"- x\n".repeat(100_000)}`;
    const startedAt = performance.now();
    compileApi(text, REQUEST);
    const ownMs = performance.now() - startedAt;
    let longestMs = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 5);
    const { processes } = await load(text);
    clearInterval(timer);
    assert.equal(processes, 1);
    assert.ok(longestMs < ownMs / 2, `${longestMs} of ${ownMs}`);
  });
  it("a document is abandoned with the time limit of its caller, and its process ends", async () => {
    const text = `a:\n${"- x\n".repeat(500_000)}`;
    const released: number[] = [];
    const keeper = { keep: () => undefined, release: (pid: number) => void released.push(pid) };
    const abort = new AbortController();
    const compiled = compileElsewhere({ text, request: REQUEST }, { keeper, signal: abort.signal });
    await Promise.race([wait(100), compiled]);
    abort.abort();
    await assert.rejects(compiled, { code: "UPSTREAM_RESULT_INVALID" });
    const [pid] = released;
    assert.throws(() => process.kill(pid ?? 0, 0), { code: "ESRCH" });
  });
});
