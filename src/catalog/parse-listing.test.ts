/** What a server may list, what is omitted, and which changes change a digest. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";

import type { Json, JsonObject } from "../domain/index.ts";
import { runAtOnce } from "../timing/index.ts";
import { MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, parseListing } from "./parse-listing.ts";
import type { ListedTool, ToolListing } from "./parse-listing.ts";

const clean = (text: string): string => text.replaceAll("\u001b", "");
const parse = (...definitions: readonly unknown[]): ToolListing => runAtOnce(parseListing(definitions, clean));
const names = (listing: ToolListing): readonly string[] => listing.tools.map((tool) => tool.remoteName);

function definition(name: unknown, rest: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, description: "Reads", input: { type: "object" }, output: null, annotations: {}, ...rest };
}

function only(listing: ToolListing): ListedTool {
  const [tool] = listing.tools;
  assert.ok(tool && listing.tools.length === 1);
  return tool;
}

/** A schema whose JSON has exactly this many bytes. */
function schemaOf(bytes: number): JsonObject {
  const empty = JSON.stringify({ type: "object", title: "" }).length;
  return { type: "object", title: "x".repeat(bytes - empty) };
}

function nest(depth: number): Json {
  let value: Json = {};
  for (let at = 1; at < depth; at += 1) value = { type: "object", not: value };
  return value;
}

function many(count: number): readonly unknown[] {
  return Array.from({ length: count }, (_, at) => definition(`t${String(at).padStart(5, "0")}`));
}

describe("a listing", () => {
  it("pauses after each tool", () => {
    const work = parseListing(many(3), clean);
    const pauses = [work.next(), work.next(), work.next()].map(({ done }) => done);
    assert.deepEqual([pauses, work.next().done], [[false, false, false], true]);
  });
  it("keeps a tool and cleans its text", () => {
    const input = { type: "object", properties: { a: { type: "string" } } };
    const annotations = { readOnly: true, destructive: "yes" };
    const tool = only(parse(definition("read_file", { description: "\u001bReads\n a file", input, annotations })));
    assert.deepEqual(tool, {
      remoteName: "read_file",
      summary: "Reads",
      description: "Reads\n a file",
      input,
      output: null,
      effect: "read",
      openWorld: false,
      synthetic: false,
      digest: tool.digest,
      definition: {
        name: "read_file",
        title: "",
        description: "\u001bReads\n a file",
        input,
        output: null,
        annotations: { readOnly: true },
      },
    });
  });
  it("a listing is frozen and shares no object with the server's data", () => {
    const sent = { type: "object", properties: { a: { type: "string" } } };
    const tool = only(parse(definition("a", { input: sent })));
    assert.notEqual(tool.input, sent);
    assert.ok(Object.isFrozen(tool) && Object.isFrozen(tool.input) && Object.isFrozen(tool.input["properties"]));
  });
  it("replaces an input schema that does not describe an object", () => {
    const inputs = [undefined, null, true, [], "x", { type: "string" }, { type: ["object", "null"] }];
    for (const input of inputs) assert.deepEqual(only(parse(definition("a", { input }))).input, { type: "object" });
    const kept = { type: "object", anyOf: [{}] };
    assert.deepEqual(only(parse(definition("a", { input: { anyOf: [{}] } }))).input, kept);
    assert.deepEqual(only(parse(definition("a", { output: 7 }))).output, null);
  });
  it("accepts any values in place of strings", () => {
    const tool = only(parse(definition("a", { description: { x: 1 }, title: 7, annotations: "no" })));
    assert.deepEqual([tool.summary, tool.description, tool.effect], ["a", "", "unknown"]);
    for (const raw of [undefined, null, "x", { length: 3 }]) {
      assert.deepEqual(runAtOnce(parseListing(raw, clean)), { tools: [], leftOut: [] });
    }
  });
  it("leaves out malformed and repeated definitions with their reasons", () => {
    const listing = parse(definition("b"), definition("a"), definition("a", { description: "again" }), null, 7, {
      description: "nameless",
    });
    assert.deepEqual(names(listing), ["a", "b"]);
    assert.deepEqual(listing.leftOut, [
      { tool: "a", why: "another tool has the same name" },
      ...Array.from({ length: 3 }, () => ({ tool: "(nameless)", why: "it is not an object with a name" })),
    ]);
    assert.equal(listing.tools[0]?.description, "Reads");
  });
});

describe("the effect of a tool", () => {
  const effectOf = (name: string, annotations: object): unknown => {
    const { effect, effectSource } = only(parse(definition(name, { annotations })));
    return [effect, effectSource];
  };

  it("the effect of a tool is guessed from the name only without annotations, and marked as a guess", () => {
    assert.deepEqual(effectOf("delete_issue", {}), ["destroy", "guess"]);
    assert.deepEqual(effectOf("delete_issue", { readOnly: true }), ["read", undefined]);
    assert.deepEqual(effectOf("delete_issue", { readOnly: false, destructive: false }), ["write", undefined]);
    assert.deepEqual(effectOf("get_issue", {}), ["unknown", undefined]);
  });
  it("the effect of a tool is not part of the digest if guessed, so a new guessing rule withholds no tool", () => {
    const { definition: own } = only(parse(definition("delete_issue")));
    assert.equal("effect" in own, false);
  });
});

describe("the bounds of a listing", () => {
  it("keep 2,000 tools, in any order", () => {
    const counts = [1999, 2000, 2001, 10_000].map((count) => parse(...many(count)));
    assert.deepEqual(
      counts.map((listing) => [listing.tools.length, listing.leftOut.length]),
      [
        [1999, 0],
        [2000, 0],
        [2000, 1],
        [2000, 8000],
      ],
    );
    assert.deepEqual(names(parse(...many(2001).toReversed())), names(parse(...many(2001))));
  });
  it("leave a tool over them out with its reason, and its name only in safe characters", () => {
    const wrong = [
      definition("deep one\u001b\n", { input: nest(MAX_SCHEMA_DEPTH + 1) }),
      definition("large", { output: schemaOf(MAX_SCHEMA_BYTES + 1) }),
      definition("n".repeat(41), { unusable: "its name has more than 256 characters" }),
    ];
    const listing = parse(definition("good"), ...wrong);
    assert.deepEqual(names(listing), ["good"]);
    assert.deepEqual(listing.leftOut, [
      { tool: `${"n".repeat(40)}…`, why: "its name has more than 256 characters" },
      { tool: "deep?one??", why: "a schema nests deeper than 100 levels" },
      { tool: "large", why: "a schema has more than 262144 bytes" },
    ]);
  });
  it("keep schemas up to 256 KiB", () => {
    for (const key of ["input", "output"]) {
      const sizes = [MAX_SCHEMA_BYTES - 1, MAX_SCHEMA_BYTES, MAX_SCHEMA_BYTES + 1, 5_000_000];
      const kept = sizes.map((bytes) => parse(definition("a", { [key]: schemaOf(bytes) })).tools.length);
      assert.deepEqual(kept, [1, 1, 0, 0], key);
    }
  });
  it("keep schemas up to 100 levels deep", () => {
    const depths = [MAX_SCHEMA_DEPTH - 1, MAX_SCHEMA_DEPTH, MAX_SCHEMA_DEPTH + 1, 50_000];
    assert.deepEqual(
      depths.map((depth) => parse(definition("a", { input: nest(depth) })).tools.length),
      [1, 1, 0, 0],
    );
  });
  it("keep 32 MiB of schemas per server", () => {
    const large = Array.from({ length: 130 }, (_, at) => definition(`t${at}`, { output: schemaOf(MAX_SCHEMA_BYTES) }));
    assert.deepEqual([parse(...large).tools.length, parse(...large.slice(0, 100)).tools.length], [127, 100]);
  });
  it("keep names up to 16,384 characters", () => {
    const lengths = [16_383, 16_384, 16_385];
    assert.deepEqual(
      lengths.map((length) => parse(definition("x".repeat(length))).tools.length),
      [1, 1, 0],
    );
  });
});

describe("the digest of a tool", () => {
  const input = { type: "object", properties: { a: { type: "string" }, b: { type: "null" } } };
  const base = { title: "T", description: "D".repeat(5000), input, output: input, annotations: { readOnly: true } };
  const digestOf = (rest: Record<string, unknown>): string =>
    only(parse(definition("name", { ...base, ...rest }))).digest;

  it("changes with every field of the server, also beyond the shown part", () => {
    const changes = [
      { name: "other" },
      { title: "U" },
      { description: `${base.description}!` },
      { input: { ...input, required: ["a"] } },
      { output: null },
      { annotations: { readOnly: true, openWorld: true } },
    ];
    assert.equal(new Set([digestOf({}), ...changes.map(digestOf)]).size, changes.length + 1);
  });
  it("the digest of a tool does not change with the order of keys", () => {
    const reordered = { properties: { b: { type: "null" }, a: { type: "string" } }, type: "object" };
    assert.equal(digestOf({ input: reordered }), digestOf({}));
  });
  it("changes exactly when a schema changes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b);
        const digests = [a, b].map((value) => digestOf({ input: { type: "object", default: value } }));
        assert.ok(isSame ? digests[0] === digests[1] : digests[0] !== digests[1] || sameButForOrder(a, b));
      }),
    );
  });
});

function sameButForOrder(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}
