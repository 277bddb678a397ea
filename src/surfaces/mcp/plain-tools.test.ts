/** Names of plain upstream tools, resources and prompts. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { createTool, snapshotOf } from "../../../test/fixtures/bridge/test-bridge.ts";
import { parsePromptName, parseResourceUri, toPromptName, toResourceUri, toTemplateUri } from "./addresses.ts";
import { definePlainTool, namePlainTools, parsePlainArguments, toPlainName } from "./plain-tools.ts";

test("an MCP tool name is namespace, underscore and tool; 64 characters fit, 65 are cut with a digest", () => {
  assert.equal(toPlainName("github.listIssues"), "github_listIssues");
  assert.equal(toPlainName(`a.${"b".repeat(62)}`), `a_${"b".repeat(62)}`);
  assert.match(toPlainName(`a.${"b".repeat(63)}`), /^a_b{52}__[0-9a-f]{8}$/);
});

test("no two addresses get the same MCP tool name, and no name exceeds 64 characters", () => {
  const word = fc.stringMatching(/^[a-z][A-Za-z0-9]{0,90}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(
        fc.tuple(word, word).map((pair) => pair.join(".")),
        { minLength: 2 },
      ),
      (addresses) => {
        const names = addresses.map(toPlainName);
        assert.equal(new Set(names).size, addresses.length);
        assert.ok(names.every((name) => name.length <= 64 && /^[A-Za-z0-9_]+$/.test(name)));
      },
    ),
  );
});

test("plain tools are sorted by name, without those for resources and prompts", () => {
  const hidden = createTool("github.resourcesList");
  const snapshot = snapshotOf([
    createTool("github.b"),
    createTool("files.a"),
    { ...hidden, origin: { ...hidden.origin, remoteName: "resources/list" } },
  ]);
  assert.deepEqual([...namePlainTools(snapshot).keys()], ["files_a", "github_b"]);
});

test("an output schema is included only if it describes an object", () => {
  const tool = createTool("files.a", { effect: "destroy", description: "Does a", output: { type: "array" } });
  const plain = {
    name: "files_a",
    description: "Does a",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: false, destructiveHint: true },
  };
  assert.deepEqual(definePlainTool("files_a", tool), plain);
  const output = { type: "object", properties: { x: {} } };
  assert.deepEqual(definePlainTool("files_a", { ...tool, output }), { ...plain, outputSchema: output });
});

test("arguments of a plain tool are one object of at most 512 levels", () => {
  const nest = (depth: number): unknown => JSON.parse(`{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`);
  assert.deepEqual(parsePlainArguments(undefined), {});
  for (const depth of [511, 512]) assert.ok(parsePlainArguments(nest(depth)));
  for (const raw of [nest(513), nest(100_000), [], 1]) {
    assert.throws(() => parsePlainArguments(raw), { code: "REQUEST_INVALID" });
  }
});

test("the address of a resource maps back to its server and its own URI", () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (uri) => {
      assert.deepEqual(parseResourceUri(toResourceUri("files", uri)), { namespace: "files", own: uri });
    }),
  );
  assert.equal(toResourceUri("files", "file:///a b"), "glovebox://files/file%3A%2F%2F%2Fa%20b");
  for (const uri of [
    "file:///a",
    "glovebox://files",
    "glovebox://Files/a",
    "glovebox://files/%",
    "glovebox://files/",
  ]) {
    assert.equal(parseResourceUri(uri), undefined, uri);
  }
});

test("a template is not changed, and a filled-in one maps back as the client encoded it", () => {
  assert.equal(toTemplateUri("files", "note://{id}/x"), "glovebox://files/~note://{id}/x");
  for (const value of ["7", "a%2Fb%20c", "100%25", "%"]) {
    const filled = toTemplateUri("files", "note://{id}/x").replace("{id}", value);
    assert.deepEqual(parseResourceUri(filled), { namespace: "files", own: `note://${value}/x` });
  }
  assert.deepEqual(parseResourceUri(toResourceUri("files", "~a%20b")), { namespace: "files", own: "~a%20b" });
  assert.equal(parseResourceUri("glovebox://files/~"), undefined);
});

test("the name of a prompt maps back to its server and its own name", () => {
  assert.deepEqual(parsePromptName(toPromptName("files", "my_prompt")), { namespace: "files", own: "my_prompt" });
  for (const name of ["files", "_x", "files_", "Files_x"]) assert.equal(parsePromptName(name), undefined, name);
});
