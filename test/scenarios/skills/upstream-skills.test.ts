/** Skills of a server behind the gateway: offered like its tools, and withheld as a whole when one file changes. */

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { it } from "node:test";

import { OPERATOR } from "../../../src/identity/index.ts";
import { openSkillGateway } from "../../fixtures/skill-gateway.ts";

const SERVER = fileURLToPath(new URL("../../../src/connectors/mcp/fixtures/skills-stdio.ts", import.meta.url));
const CODE = 'return (await desk.skillsBillingRefunds({ path: "references/limits.md" })).text';

it("a skill of a server is found with its origin, read in a program, and withheld until its change is approved", async (context) => {
  const mcpServers = { desk: { command: process.execPath, args: [SERVER] } };
  const { gateway, run } = await openSkillGateway(context, { mcpServers });
  const { tools } = await gateway.search(gateway.agent, { query: "refund an order" });
  assert.deepEqual(
    [tools[0]?.name, tools[0]?.server, tools[0]?.upstreamName, tools[0]?.effect],
    ["desk.skillsBillingRefunds", "desk", "skills/billing/refunds", "read"],
  );
  assert.equal(await run(CODE), "At most 100.\n");
  await run("await desk.edit({ listed: true })");
  const find = async () => (await gateway.held.list()).filter(({ tool }) => tool.startsWith("skills/"));
  for (let tries = 0; tries < 200 && (await find()).length === 0; tries += 1) await gateway.takeSnapshot(OPERATOR);
  const [held] = await find();
  assert.ok(held);
  assert.match(held.difference.join("\n"), /sha256:/);
  assert.equal(await run(CODE), "failed TOOL_WITHHELD");
  await gateway.held.approve({ server: held.server, tools: [held.tool], principal: OPERATOR });
  for (let tries = 0; tries < 200 && (await run(CODE)) !== "Without limit.\n"; tries += 1);
  assert.equal(await run(CODE), "Without limit.\n");
});
