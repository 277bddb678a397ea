/** What the settings of the data-flow guard change, for `test/settings/settings.test.ts`. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../fixtures/mcp-client.ts";
import { compare, run } from "../fixtures/observe-settings.ts";
import { makeUntypedFolder, probe, serveFor } from "../fixtures/product.ts";

/** Reads with one tool of the probe and sends something of it with another. */
const FLOW = "const { argv } = await probe.about({}); return (await probe.echo({ n: argv.length })).n";
const EXTERNAL = { tools: ["probe.echo"], add: ["external"] };
const flows = (more: object, ...rules: readonly object[]): unknown => ({
  policy: { ...more, labels: [{ tools: ["probe.about"], add: ["private", "untrusted"] }, EXTERNAL, ...rules] },
});

/** The outcome of the flow if one HTTP session reads and the next one sends. */
async function sendInNextSession(context: TestContext, labelHours: number): Promise<unknown> {
  const config = { mcpServers: { probe: probe() }, approvals: { graceMs: 0 }, ...(flows({ labelHours }) as object) };
  const { mcp } = await serveFor(context, makeUntypedFolder(context, config));
  const execute = async (code: string): Promise<unknown> => {
    const client = await connect(context, mcp, ERAS[0]);
    const { structuredContent } = await client.callTool({ name: "execute", arguments: { code } });
    await client.close();
    return (structuredContent as { readonly state: string }).state;
  };
  assert.equal(await execute("await probe.about({})"), "completed");
  return execute("await probe.echo({ n: 1 })");
}

export const FLOW_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "policy.labelHours": async (context) => {
    assert.equal(await sendInNextSession(context, 1), "paused");
    assert.equal(await sendInNextSession(context, 0), "completed");
  },
  "policy.flows": compare(run(FLOW), [flows({ flows: "deny" }), "POLICY_DENIED"], [flows({ flows: "allow" }), 0]),
  "policy.labels[].add": compare(
    run(FLOW),
    [flows({}), "paused"],
    [{ policy: { labels: [{ tools: ["probe.about"], add: ["private"] }, EXTERNAL] } }, 0],
  ),
  "policy.labels[].remove": compare(
    run(FLOW),
    [flows({}), "paused"],
    [flows({}, { tools: ["probe.echo"], remove: ["external"] }), 0],
  ),
  "policy.labels[].tools": compare(
    run(FLOW),
    [flows({}, { tools: ["probe.*"], add: ["external"] }), "paused"],
    [flows({}, { tools: ["probe.*"], remove: ["external"] }), 0],
  ),
};
