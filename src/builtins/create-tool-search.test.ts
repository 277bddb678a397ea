/** The signature of a hit is enough to write a call: programs that use nothing else pass the check of types. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parsePrincipalId } from "../domain/index.ts";
import { declareApi, signCall } from "../typegen/index.ts";
import { compile, snapshotOf, toolOf } from "../typegen/fixtures/compile.ts";
import { createToolSearch } from "./create-tool-search.ts";

const ISSUE = {
  type: "object",
  properties: {
    number: { type: "integer" },
    title: { type: "string" },
    labels: { type: "array", items: { type: "string" } },
  },
  required: ["number", "title"],
};
const TOOLS = [
  toolOf("github.listIssues", {
    summary: "Lists the issues of a repository",
    input: {
      type: "object",
      properties: { owner: { type: "string" }, state: { enum: ["open", "closed"], description: "Which ones" } },
      required: ["owner"],
    },
    output: { type: "object", properties: { issues: { type: "array", items: ISSUE } }, required: ["issues"] },
  }),
  toolOf("chat.post", {
    summary: "Posts a message to a channel",
    input: {
      type: "object",
      properties: { channel: { type: "string" }, text: { type: "string" }, silent: { type: "boolean" } },
      required: ["channel", "text"],
    },
    output: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  }),
  toolOf("clock.now", { summary: "Returns the current time" }),
];
const VIEWER = { id: parsePrincipalId("local") ?? assert.fail() };
const SNAPSHOT = snapshotOf("7", TOOLS);
const search = createToolSearch({ hide: (text) => text });
const hit = (query: string) => search(VIEWER, SNAPSHOT, { query }).tools[0]?.signature;

describe("signatures of hits", () => {
  it("state the types of arguments and result on one line", () => {
    assert.deepEqual(["issues of a repository", "post a message", "current time"].map(hit), [
      'github.listIssues(args: { owner: string; state?: "open" | "closed" }): Promise<{ issues: Array<{ number: number; title: string; labels?: string[] }> }>',
      "chat.post(args: { channel: string; text: string; silent?: boolean }): Promise<{ id: string }>",
      "clock.now(): Promise<any>",
    ]);
  });
  it("are enough to write a program that passes the check of types, and wrong calls do not pass", () => {
    const { declarations } = declareApi(SNAPSHOT);
    const program = `import "./api.js";
const { issues } = await github.listIssues({ owner: "acme", state: "open" });
const first: string[] | undefined = issues[0]?.labels;
const { id } = await chat.post({ channel: "general", text: \`\${issues.length} open at \${await clock.now()}\` });
export const result: [string, string[] | undefined] = [id, first];`;
    assert.equal(compile({ "api.d.ts": declarations, "use.ts": program }), "");
    const wrong = program.replace('"open" }', '"opened" }').replace('channel: "general", ', "");
    assert.equal(compile({ "api.d.ts": declarations, "use.ts": wrong }).match(/error TS/g)?.length, 2);
  });
  it("declare the same calls as the API", () => {
    const withArguments = TOOLS.slice(0, 2);
    const methods = withArguments.map((tool) => {
      const text = signCall(tool) ?? assert.fail();
      return `declare const ${tool.address.replace(".", "_")}: { ${text.slice(text.indexOf(".") + 1)} };`;
    });
    const same = withArguments.map(({ address }) => {
      const [namespace, method] = address.split(".");
      return `export const ${namespace}_same: Parameters<typeof ${namespace}.${method}>[0] = null! as Parameters<typeof ${namespace}_${method}.${method}>[0];`;
    });
    assert.equal(
      compile({
        "api.d.ts": declareApi(SNAPSHOT).declarations,
        "use.ts": [`import "./api.js";`, ...methods, ...same].join("\n"),
      }),
      "",
    );
  });
});

describe("long signatures", () => {
  const wide = (count: number) => ({
    type: "object",
    properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, { type: "string" }])),
  });

  it("omit a result that is too long, and are omitted if the arguments are", () => {
    const short = signCall(toolOf("a.b", { output: wide(5) }));
    assert.match(short ?? "", /^a\.b\(\): Promise<\{ field0\?: string; .*field4\?: string \}>$/);
    assert.equal(signCall(toolOf("a.c", { output: wide(50) })), "a.c(): Promise<…>");
    assert.equal(signCall(toolOf("a.d", { input: wide(50) })), undefined);
  });
  it("have at most 480 characters: at the limit the result is written, one above it is not", () => {
    const named = (length: number) => ({ type: "object", properties: { ["x".repeat(length)]: { type: "string" } } });
    const fixed = (signCall(toolOf("a.e", { output: named(1) })) ?? "").length - 1;
    const at = [3, 2, 1].map((more) => `${"y".repeat(100)}${more}`);
    const output = (last: number) => ({
      type: "object",
      properties: Object.fromEntries([...at, "z".repeat(last)].map((name) => [name, { type: "string" }])),
    });
    const base = (signCall(toolOf("a.f", { output: output(1) })) ?? "").length - 1;
    assert.ok(fixed < base);
    assert.equal(signCall(toolOf("a.g", { output: output(480 - base) }))?.length, 480);
    assert.equal(signCall(toolOf("a.h", { output: output(481 - base) })), "a.h(): Promise<…>");
  });
  it("write the type of the arguments once if the result has it too", () => {
    const same = { ...wide(2), required: ["field0"] };
    assert.equal(
      signCall(toolOf("a.j", { input: same, output: same })),
      "a.j(args: { field0: string; field1?: string }): Promise<typeof args>",
    );
    assert.match(signCall(toolOf("a.k", { input: same, output: wide(2) })) ?? "", /Promise<\{ field0\?: string/);
  });
  it("say that any arguments are possible where the schema does", () => {
    assert.equal(
      signCall(toolOf("a.i", { input: { type: "object", additionalProperties: true } })),
      "a.i(args?: Record<string, unknown>): Promise<any>",
    );
  });
});
