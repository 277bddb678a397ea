/** Patterns, formats and unique items of arguments from outside: what is refused before the call, and what is left open. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openFakeApi } from "../../../src/connectors/openapi/fixtures/fake-api.ts";
import type { FakeApi } from "../../../src/connectors/openapi/fixtures/fake-api.ts";
import { runGlovebox } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-argument-checks-"));
let api: FakeApi;

const PARAMETERS = {
  sku: { type: "string", pattern: "^[A-Z]{3}-\\d+$" },
  since: { type: "string", format: "date" },
  tags: { type: "array", items: { type: "string" }, uniqueItems: true },
  code: { type: "string", pattern: "^(?!x)" },
};

before(async () => {
  api = await openFakeApi();
  api.answers.set("GET /find", { body: { ok: true } });
  const parameters = Object.entries(PARAMETERS).map(([name, schema]) => ({ name, in: "query", schema }));
  const operation = { operationId: "find", parameters, responses: { 200: { description: "Found" } } };
  const document = { openapi: "3.1.0", info: { title: "Shop", version: "1" }, paths: { "/find": { get: operation } } };
  writeFileSync(join(folder, "shop.json"), JSON.stringify(document));
  const openapi = { shop: { document: "./shop.json", baseUrl: api.origin } };
  const config = { mcpServers: {}, openapi, store: { url: "sqlite::memory:" } };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
});
after(async () => {
  await api[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (args: readonly string[], input = ""): Promise<CommandResult> => runGlovebox(args, { folder, input });

const PROGRAM = `
  const why = (args) => shop.find(args).then(() => "called", ({ code, message }) => code + " " + message);
  return [
    await why({ sku: "abc" }), await why({ sku: "ABC-1" }),
    await why({ since: "soon" }), await why({ since: "2026-11-17" }),
    await why({ tags: ["a", "a"] }), await why({ tags: ["a", "b"] }),
    await why({ code: "x" }),
  ];
`;
const INVALID = "TOOL_ARGUMENTS_INVALID shop.find: ";
const SEEN = [
  `${INVALID}sku: does not match the pattern ^[A-Z]{3}-\\d+$`,
  "called",
  `${INVALID}since: expected the format "date", for example 2000-01-01`,
  "called",
  `${INVALID}tags: items 0 and 1 are equal; all items must differ`,
  "called",
  "called",
];
const OPEN = "pattern of code: a lookahead";

describe("arguments of the built product", { concurrency: 2 }, () => {
  test("are refused before the call if they break a pattern, a format or unique items", async () => {
    const { code, stdout, stderr } = await ask(["run", "-"], PROGRAM);
    assert.deepEqual([code, JSON.parse(stdout || "null")], [0, SEEN], stderr);
  });
  test("are also checked in a dry run", async () => {
    const { code, stdout, stderr } = await ask(["run", "-", "--dry-run"], PROGRAM);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), SEEN);
  });
  test("are described with the patterns that they are not checked by", async () => {
    const [described, servers, doctor] = await Promise.all(
      [["describe", "shop.find"], ["servers"], ["doctor"]].map((args) => ask(args)),
    );
    assert.match(
      described?.stdout ?? "",
      new RegExp(`The server decides about arguments that are not checked by ${OPEN}`),
    );
    assert.match(servers?.stdout ?? "", new RegExp(`finding: arguments of find are not checked by ${OPEN}`));
    assert.match(doctor?.stdout ?? "", new RegExp(`1 tool; arguments of find are not checked by ${OPEN}`));
  });
});
