/** UTCP's code mode: isolated-vm in the caller's own process, no ledger. */

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expectTwo } from "./peer.ts";
import type { Peer } from "./peer.ts";

interface CodeMode {
  readonly CodeModeUtcpClient: {
    create(): Promise<{ callToolChain(code: string): Promise<{ readonly result: unknown }>; close(): Promise<void> }>;
  };
}

export async function openUtcp(folder: string): Promise<Peer> {
  const file = createRequire(join(folder, "package.json")).resolve("@utcp/code-mode");
  const { CodeModeUtcpClient } = (await import(pathToFileURL(file).href)) as CodeMode;
  const client = await CodeModeUtcpClient.create();
  return {
    name: "@utcp/code-mode (isolate in the caller's process)",
    run: async () => expectTwo((await client.callToolChain("return 1 + 1")).result),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
