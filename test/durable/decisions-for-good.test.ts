/** A decision for good holds from the next call of the program on that waited for it. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

import { parseSettings } from "../../src/config/index.ts";
import { LOCAL, OPERATOR } from "../../src/identity/index.ts";
import { openGateway } from "../../src/open-gateway.ts";

/** One call after another, then two at once. */
const PROGRAM = `const { products } = await inventory.listProducts({});
const [one, two, three] = products.map(({ sku }) => sku);
await inventory.deleteProduct({ sku: one });
await Promise.all([two, three].map((sku) => inventory.deleteProduct({ sku })));
return (await inventory.listProducts({})).products.length - products.length;`;

for (const [when, graceMs] of [
  ["was suspended", 0],
  ["is in memory", 60_000],
] as const)
  test(`a program that ${when} has the rule of a decision for good at its next call`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-for-good-"));
    context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const config = {
      mcpServers: { inventory: { command: process.execPath, args: [resolve("src/surfaces/demo/inventory.ts")] } },
      analysis: { types: "off" },
      store: { url: `sqlite:${join(folder, "glovebox.db")}` },
      sandbox: { limits: { wallMs: 600_000 } },
      approvals: { graceMs },
    };
    await using gateway = await openGateway(parseSettings(config, { folder }, {}), { lasting: true });
    const asked = Promise.withResolvers<string>();
    const running = gateway.execute({
      principal: LOCAL,
      source: PROGRAM,
      onEvent: (event) => event.kind === "asked" && asked.resolve(event.approval.id),
    });
    await gateway.approvals.decide(await asked.promise, { verdict: "approve", scope: "always-tool" }, OPERATOR);
    const { execution } = await running;
    const view = () => gateway.view({ principal: LOCAL, execution, waitMs: 60_000 });
    let result = await view();
    while (result.state === "running" || (result.state === "paused" && result.questions === undefined))
      result = await view();
    assert.deepEqual([result.state, result.value], ["completed", -3]);
    assert.equal((await gateway.approvals.list({ execution })).length, 1);
  });
