/** Which Node runs V8 isolates. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";

import { V8_PACKAGE, findNodeForV8, requireNodeForV8 } from "./find-node.ts";

const OWN = "/usr/bin/node";
/** Of Node 22, for which no module is shipped. */
const OLDER = "127";

/** A project with the optional package, whose Node has this version of the binary interface. */
function makeProject(context: TestContext, abi: unknown) {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-v8-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const place = join(folder, "node_modules", V8_PACKAGE);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: V8_PACKAGE, abi }));
  writeFileSync(join(place, process.platform === "win32" ? "node.exe" : "node"), "");
  return { place, require: createRequire(join(folder, "index.js")) };
}

describe("findNodeForV8", () => {
  it("takes the Node of the gateway if a native module fits it, also beside the optional package", (context) => {
    const found = findNodeForV8(OWN, makeProject(context, "137"));
    assert.equal(found?.node, OWN);
    assert.match(
      basename(found.native),
      new RegExp(`^${process.platform}-${process.arch}\\.abi${process.versions.modules}`),
    );
  });
  it("takes the Node of the optional package if no module fits that of the gateway", (context) => {
    const { place, require } = makeProject(context, "137");
    const found = findNodeForV8(OWN, { abi: OLDER, require });
    assert.deepEqual(found?.node.startsWith(place), true);
    assert.match(basename(found.native), /\.abi137/);
  });
  it("finds none without the package, or with one whose Node fits no module", (context) => {
    const require = createRequire(join(tmpdir(), "index.js"));
    assert.equal(findNodeForV8(OWN, { abi: OLDER, require }), undefined);
    for (const abi of [OLDER, "../../x", 137, undefined]) {
      assert.equal(findNodeForV8(OWN, { abi: OLDER, require: makeProject(context, abi).require }), undefined);
    }
    assert.throws(() => requireNodeForV8(OWN, { abi: OLDER, require }), { code: "SANDBOX_UNAVAILABLE" });
    assert.equal(requireNodeForV8(OWN, { require }).node, OWN);
  });
});
