/** Two gateways in one process: each masks its own secrets, and neither knows those of the other. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { parseSettings } from "../../../src/config/index.ts";
import { parsePrincipalId } from "../../../src/domain/index.ts";
import { openGateway } from "../../../src/open-gateway.ts";
import type { Gateway } from "../../../src/surfaces/index.ts";

const SECRETS = ["first-secret-value", "second-secret-value"] as const;

/** A gateway whose only server has `secret` as a plain credential in its environment. */
async function open(context: TestContext, secret: string): Promise<Gateway> {
  const env = { API_TOKEN: secret };
  const args = ["test/fixtures/servers/probe-server.mjs"];
  const config = {
    mcpServers: { probe: { command: process.execPath, args, env, start: "lazy" } },
    store: { url: "sqlite::memory:" },
  };
  const gateway = await openGateway(parseSettings(config, { folder: process.cwd() }, {}));
  context.after(() => gateway.close());
  return gateway;
}

/** What a program gets to see of both secrets when it returns them. */
async function show(gateway: Gateway): Promise<unknown> {
  const principal = { id: parsePrincipalId("local") ?? assert.fail(), kind: "agent", groups: [] } as const;
  const code = `return ${JSON.stringify(SECRETS)}`;
  const { signal } = new AbortController();
  return (await gateway.execute({ principal, source: code, signal })).value;
}

test("each of two gateways in one process masks its own secret and not that of the other", async (context) => {
  const [first, second] = [await open(context, SECRETS[0]), await open(context, SECRETS[1])];
  assert.deepEqual(await show(first), ["[secret]", SECRETS[1]]);
  assert.deepEqual(await show(second), [SECRETS[0], "[secret]"]);
});
