/** Executions outlive the gateway that ran them: results are read after a restart, and a crash is reported as one. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { makeUntypedFolder, probe, serveFor } from "../../fixtures/product.ts";

async function serve(context: TestContext, folder: string) {
  const { mcp, child } = await serveFor(context, folder);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  context.after(() => client.close().catch(() => undefined));
  return { client, child };
}

interface View {
  readonly execution: string;
  readonly state: string;
  readonly logs: readonly { readonly text: string }[];
  readonly error?: { readonly code: string };
}

async function resume(client: Client, execution: string): Promise<View> {
  const { structuredContent } = await client.callTool({ name: "resume", arguments: { execution } });
  return structuredContent as View;
}

test("after a restart a finished execution is read from the store, and one that cannot be recovered has failed", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: { probe: probe("--mute") } });
  const first = await serve(context, folder);
  const done = await first.client.callTool({ name: "execute", arguments: { code: 'console.log("kept"); return 7' } });
  const begun = Promise.withResolvers<string>();
  const sent = Promise.withResolvers<void>();
  const dying = first.client.callTool(
    { name: "execute", arguments: { code: "await probe.change({})" } },
    {
      onprogress: ({ message = "" }) => {
        begun.resolve(/ex_[0-9a-f]{24}/.exec(message)?.[0] ?? "");
        if (message.startsWith("probe.change called")) sent.resolve();
      },
    },
  );
  dying.catch(() => undefined);
  const died = await begun.promise;
  await sent.promise; // a change is on disk before it is sent
  first.child.kill("SIGKILL");
  await once(first.child, "close");

  const second = await serve(context, folder);
  const { execution } = done.structuredContent as View;
  assert.deepEqual(await resume(second.client, execution), done.structuredContent);
  const view = await resume(second.client, died);
  assert.deepEqual([view.execution, view.state, view.error?.code], [died, "failed", "SANDBOX_CRASHED"]);
});
