/** A real reference server behind the built product: its images, progress, resources and prompts reach a client. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { EVERYTHING, makeFolder, serveFor } from "../../fixtures/product.ts";

const PICTURE = "const [, picture] = await everything.getTinyImage({}); return picture;";
const LONG = "return await everything.triggerLongRunningOperation({ duration: 1, steps: 3 });";

test("server-everything through Glovebox", async (suite) => {
  const { mcp } = await serveFor(suite, makeFolder(suite, { mcpServers: { everything: EVERYTHING } }));
  for (const era of ERAS) {
    await suite.test(`a client of ${era.era} receives an image as an image, never as text`, async (context) => {
      const client = await connect(context, mcp, era);
      const { content, structuredContent } = await client.callTool({ name: "execute", arguments: { code: PICTURE } });
      const picture = content.find((block) => block.type === "image");
      assert.ok(picture);
      const bytes = Buffer.from(picture.data, "base64");
      assert.deepEqual([picture.mimeType, bytes.subarray(1, 4).toString("latin1")], ["image/png", "PNG"]);
      const { value } = structuredContent as { value: { type: string; bytes: number; handle: string } };
      assert.deepEqual([value.type, value.bytes], ["image", bytes.length]);
      assert.match(value.handle, /^rs_/);
      const others = JSON.stringify([content.filter((block) => block.type !== "image"), structuredContent]);
      assert.equal(others.includes(picture.data.slice(0, 40)), false);
    });
    await suite.test(`a client of ${era.era} receives progress of an upstream`, async (context) => {
      const client = await connect(context, mcp, era);
      const heard: string[] = [];
      const onprogress = ({ message = "" }: { readonly message?: string | undefined }): void =>
        void heard.push(message);
      await client.callTool({ name: "execute", arguments: { code: LONG } }, { onprogress });
      assert.ok(heard.includes("everything.triggerLongRunningOperation 1/3"), heard.join("\n"));
    });
    await suite.test(
      `a client of ${era.era} reads a resource and a prompt under their prefixed names`,
      async (context) => {
        const client = await connect(context, mcp, era);
        const { resources } = await client.listResources();
        const uri = resources.map((resource) => resource.uri).find((one) => one.includes("architecture.md"));
        assert.ok(uri !== undefined && uri.startsWith("glovebox://everything/"));
        const [read] = (await client.readResource({ uri })).contents;
        assert.ok(read && "text" in read && read.text.startsWith("# Everything Server"));
        const { messages } = await client.getPrompt({ name: "everything_simple-prompt" });
        assert.equal(messages.length, 1);
      },
    );
  }
});
