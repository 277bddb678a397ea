/** Which tools get types if the declarations are too large. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { Tool } from "../domain/index.ts";
import { declareApi, declareInSlices } from "./declare-api.ts";
import { known, snapshotOf, toolOf } from "./fixtures/compile.ts";

const PROPERTIES = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`property${at}`, { type: "string" }]));
const LARGE = Array.from({ length: 400 }, (_, at) =>
  toolOf(`alpha.tool${at}`, { input: { type: "object", properties: PROPERTIES } }),
);
const SMALL = toolOf("zeta.get", {
  input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
});
const LAST = known(LARGE.at(-1));
const SNAPSHOT = snapshotOf("e", [...LARGE, SMALL]);
const isTyped = (declarations: string, { address }: Tool): boolean =>
  !declarations.includes(`  ${address.split(".")[1]}(args?: Record<string, unknown>): Promise<any>;`);

describe("an API that is too large", () => {
  const surface = declareApi(SNAPSHOT);
  it("declares the types of a small server, at any position", () => {
    assert.match(surface.declarations, /declare const zeta: \{\n.*\n {2}get\(args: \{\n {4}id: string;/);
    assert.deepEqual([isTyped(surface.declarations, SMALL), isTyped(surface.declarations, LAST)], [true, false]);
    assert.deepEqual([surface.part, surface.loose], [undefined, undefined]);
  });
  it("an API that is too large is the same for programs that use only tools with types", () => {
    assert.equal(declareApi(SNAPSHOT, { reached: () => [SMALL.address, known(LARGE[0]).address] }), surface);
  });
  it("declares types only for the tools that a program uses, if it uses one without types", () => {
    const part = declareApi(SNAPSHOT, { reached: () => [LAST.address, LAST.address] });
    const typed = [...LARGE, SMALL].filter((tool) => isTyped(part.declarations, tool));
    assert.deepEqual([typed, part.part, part.loose], [[LAST], LAST.address, undefined]);
    assert.notEqual(
      part.declarations,
      declareApi(SNAPSHOT, { reached: () => [known(LARGE[398]).address] }).declarations,
    );
  });
  it("lists the used tools that still do not fit", () => {
    const part = declareApi(SNAPSHOT, { reached: () => LARGE.map(({ address }) => address) });
    const untyped = LARGE.filter((tool) => !isTyped(part.declarations, tool)).map(({ address }) => address);
    assert.ok(untyped.length > 0 && untyped.length < LARGE.length);
    assert.deepEqual(part.loose, untyped);
    const all = declareApi(SNAPSHOT, { reached: () => [...SNAPSHOT.tools.keys()] });
    assert.deepEqual([all.declarations, all.part], [surface.declarations, undefined]);
    assert.ok(all.loose && all.loose.length > 0);
  });
});

describe("declareInSlices", () => {
  const countPauses = (tools: readonly Tool[], digest: string): number => {
    const work = declareInSlices(snapshotOf(digest, tools));
    let pauses = 0;
    while (work.next().done !== true) pauses += 1;
    return pauses;
  };
  it("declares the tools of a snapshot once, with a pause after each", () => {
    const tools = LARGE.slice(0, 20);
    assert.equal(countPauses(tools, "2"), 19);
    assert.equal(countPauses(tools, "2"), 0);
    const surface = declareApi(snapshotOf("2", tools));
    assert.equal(surface.declarations, declareApi(snapshotOf("3", tools)).declarations);
    assert.equal(countPauses(tools, "3"), 0);
  });
});
