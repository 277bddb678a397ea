/** What the compiler can reach from its process: the declarations that it is given, and nothing of the disk. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { parseDigest } from "../domain/index.ts";
import type { ApiSurface } from "../domain/index.ts";
import { measureFamily } from "../processes/index.ts";
import { openChecker } from "./open-checker.ts";

function known<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}

const folder = mkdtempSync(join(tmpdir(), "glovebox-checker-"));
const keeper = { keep: () => undefined, release: () => undefined };
const checker = openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily });
after(async () => {
  await checker[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const SURFACE: ApiSurface = {
  snapshot: known(parseDigest(`sha256:${"a".repeat(64)}`)),
  declarations: "declare const shop: { list(): Promise<any> };",
  namespaces: [],
};

const principal = { id: "bob" };

describe("the compiler", () => {
  writeFileSync(join(folder, "global.d.ts"), "declare const leaked: { call(): Promise<any> };\n");
  mkdirSync(join(folder, "node_modules", "@types", "canary"), { recursive: true });
  writeFileSync(join(folder, "node_modules", "@types", "canary", "index.d.ts"), "declare const leaked: any;\n");
  const leaks = [
    `/// <reference path="${folder}/global.d.ts" />\nawait leaked.call();`,
    `/// <reference types="${folder}/node_modules/@types/canary" />\nawait leaked.call();`,
    `/// <reference types="node" />\nawait leaked.call();`,
    `const x: typeof import("${folder}/global.d.ts") = null; await leaked.call();`,
    `type T = import("${folder}/global").T; await leaked.call();`,
    `const m = await import("${folder}/global.d.ts"); await leaked.call();`,
  ];
  for (const source of leaks) {
    it(`reads nothing of the disk for ${JSON.stringify(source.replaceAll(folder, ""))}`, async () => {
      const found = await checker.check({ text: source, surface: SURFACE, principal });
      assert.ok(found.kind === "checked");
      assert.deepEqual(
        found.mistakes.map(({ kind, name }) => [kind, name]),
        [["unknown-name", "leaked.call"]],
      );
    });
  }
  it("finds the name if it is declared (positive control)", async () => {
    const snapshot = known(parseDigest(`sha256:${"b".repeat(64)}`));
    const declarations = readFileSync(join(folder, "global.d.ts"), "utf8");
    const surface = { ...SURFACE, snapshot, declarations };
    const found = await checker.check({ text: "await leaked.call();", surface, principal });
    assert.deepEqual(found, { kind: "checked", mistakes: [] });
  });
  it("runs the compiler and its parent with an empty environment", { skip: process.platform !== "linux" }, () => {
    const children = readFileSync(`/proc/${checker.stats().pid}/task/${checker.stats().pid}/children`, "latin1")
      .trim()
      .split(" ");
    assert.equal(children.length, 1);
    for (const pid of [checker.stats().pid, ...children])
      assert.equal(readFileSync(`/proc/${pid}/environ`, "latin1"), "");
  });
  it("checks against more sets of tools than it keeps", async () => {
    for (const mark of ["1", "2", "3", "4", "5", "6", "1"]) {
      const snapshot = known(parseDigest(`sha256:${mark.repeat(64)}`));
      const declarations = `declare const n${mark}: { t(): Promise<any> };`;
      const found = await checker.check({
        text: `n${mark}.t(); n${mark}.u(); //${Math.random()}`,
        surface: { ...SURFACE, snapshot, declarations },
        principal,
      });
      assert.ok(found.kind === "checked");
      assert.deepEqual(
        found.mistakes.map(({ name }) => name),
        [`n${mark}.u`],
      );
    }
  });
});
