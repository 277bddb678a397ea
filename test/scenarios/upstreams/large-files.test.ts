/** Files and results that are too large or too many to include: clients read valid MCP that refers to the rest. */

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";

import type { Client } from "@modelcontextprotocol/client";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { makeUntypedFolder, serveFor } from "../../fixtures/product.ts";

const MIB = 1024 * 1024;
const GALLERY = { command: process.execPath, args: [resolve("test/fixtures/servers/files-server.mjs")] };
const NOTE =
  /^The file (rs_\w+) \(image\/png, (\d+) bytes\) is not included: .* Read the resource (glovebox:\/\/glovebox\/rs_\w+), or parts of it with resume\(\{ handle: "rs_\w+" \}\)\.$/;

interface Shown {
  readonly type?: string;
  readonly text?: string;
  readonly mimeType?: string;
}

/** Every entry by its kind: the size in a note, or its type. */
function kindsOf(entries: readonly Shown[]): readonly string[] {
  return entries.map(({ type, text }) => {
    if (text === undefined) return type ?? "blob";
    return NOTE.exec(text)?.[2] ?? `text of ${text.length}`;
  });
}

async function callPictures(client: Client, count: number, bytes: number): Promise<readonly Shown[]> {
  const { content, isError } = await client.callTool({ name: "gallery_pictures", arguments: { count, bytes } });
  assert.equal(isError ?? false, false);
  return content as readonly Shown[];
}

test("large files for a client of tools only", async (suite) => {
  const config = { mcpServers: { gallery: GALLERY }, expose: "tools" };
  const { mcp } = await serveFor(suite, makeUntypedFolder(suite, config));
  for (const era of ERAS) {
    await suite.test(`a client of ${era.era} that uses tools only sees resume beside the tools`, async (context) => {
      const client = await connect(context, mcp, era);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ["resume", "gallery_object", "gallery_pictures"],
      );
      await assert.rejects(client.callTool({ name: "execute", arguments: { code: "1" } }), /Unknown tool/);
    });
  }
  const client = await connect(suite, mcp, ERAS[0]);
  await suite.test("a client receives files up to the limits, and a note for each one beyond", async () => {
    assert.deepEqual(kindsOf(await callPictures(client, 1, 4 * MIB)), ["image"]);
    assert.deepEqual(kindsOf(await callPictures(client, 1, 4 * MIB + 1)), [String(4 * MIB + 1)]);
    const many = [...Array.from({ length: 8 }, () => "image"), "10", "10"];
    assert.deepEqual(kindsOf(await callPictures(client, 10, 10)), many);
  });
  await suite.test("a client reads omitted files as a resource, or in parts", async () => {
    const [note] = await callPictures(client, 1, 5 * MIB);
    const [, handle = "", , uri = ""] = NOTE.exec(note?.text ?? "") ?? [];
    const { contents } = await client.readResource({ uri });
    const [whole] = contents as readonly { blob?: string; mimeType?: string; uri: string }[];
    const bytes = Buffer.from(whole?.blob ?? "", "base64").byteLength;
    assert.deepEqual([whole?.uri, whole?.mimeType, bytes], [uri, "image/png", 5 * MIB]);
    const part = await client.callTool({ name: "resume", arguments: { handle, offset: 3, limit: 4 } });
    const { value } = part.structuredContent as { value: { base64: string } };
    assert.equal(value.base64, Buffer.alloc(4, 7).toString("base64"));
    await assert.rejects(client.readResource({ uri: `glovebox://glovebox/rs_${"0".repeat(24)}` }));
  });
  await suite.test("a client receives a large object once, with a short text beside it", async () => {
    const call = async (bytes: number) => {
      const { content, structuredContent } = await client.callTool({ name: "gallery_object", arguments: { bytes } });
      const [block] = content as readonly Shown[];
      return { text: block?.text ?? "", size: (structuredContent as { text: string }).text.length };
    };
    const small = await call(19_000);
    assert.deepEqual([small.size, small.text.length], [19_000, 19_011]);
    const large = await call(100_000);
    assert.equal(large.size, 100_000);
    assert.match(large.text.slice(-100), /\[shortened: this text has 100011 bytes; structuredContent has all of it\]$/);
    assert.ok(large.text.length < 3_000);
    const kept = await call(2 * MIB);
    assert.equal(kept.size, 2 * MIB);
    assert.match(kept.text, /the whole is kept as rs_\w+: .*\nRead it with resume\(\{ handle: "rs_\w+", path, /);
    assert.ok(kept.text.length < 3_000);
  });
  await suite.test(
    "a client reads resources and prompts whose files are too large or too many as valid MCP",
    async () => {
      const read = async (path: string): Promise<readonly Shown[]> =>
        (await client.readResource({ uri: `glovebox://gallery/~pic://${path}` })).contents as readonly Shown[];
      assert.deepEqual(kindsOf(await read(`1/${4 * MIB}`)), ["blob"]);
      const [large] = await read(`1/${4 * MIB + 1}`);
      assert.deepEqual([kindsOf([large ?? {}]), large?.mimeType], [[String(4 * MIB + 1)], "text/plain"]);
      assert.deepEqual(kindsOf(await read("9/10")), [...Array.from({ length: 8 }, () => "blob"), "10"]);
      const { messages } = await client.getPrompt({ name: "gallery_show", arguments: { bytes: String(4 * MIB + 1) } });
      const [picture, resource] = messages.map(({ content }) => content as Shown & { resource?: Shown });
      assert.deepEqual(kindsOf([picture ?? {}, resource?.resource ?? {}]), [String(4 * MIB + 1), String(4 * MIB + 1)]);
      assert.deepEqual([picture?.type, resource?.type], ["text", "resource"]);
    },
  );
});
