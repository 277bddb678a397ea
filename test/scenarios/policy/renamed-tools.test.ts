/** Rules from outside when a server adds a tool whose name collides, and patterns that match no tool. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { makeFolder, runGlovebox, serveFor } from "../../fixtures/product.ts";

/** Answers every call with the name of the tool, and lists the tools of its arguments. */
const SERVER = `
import { createInterface } from "node:readline";
const inputSchema = { type: "object" };
const tools = process.argv.slice(2).map((name) => ({ name, inputSchema }));
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bank", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: name }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = ANSWERS[method]?.(params);
  const error = { code: -32601, message: "unknown" };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }) + "\\n");
});`;

function makeBank(context: TestContext, more: object) {
  const folder = makeFolder(context);
  writeFileSync(join(folder, "server.mjs"), SERVER);
  const list = (...tools: readonly string[]): void => {
    const mcpServers = { "my-bank": { command: process.execPath, args: [join(folder, "server.mjs"), ...tools] } };
    const config = { mcpServers, store: { url: "sqlite:./bank.db" }, ...more };
    writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  };
  return { folder, list };
}

/** Calls every tool that is offered, and the denied one; returns what each call came to. */
const CALL = `
const codeOf = ({ code }) => code;
const found = { transferFunds: await myBank.transferFunds({}).catch(codeOf) };
for (const { name } of (await glovebox.search({ server: "my-bank", limit: 50 })).tools) {
  const own = name.split(".")[1];
  found[own] = await myBank[own]({}).catch(codeOf);
}
return found;`;

async function run(folder: string): Promise<unknown> {
  const { stdout } = await runGlovebox(["run", "--no-types", "--json", "-"], { folder, input: CALL });
  return (JSON.parse(stdout) as { value: unknown }).value;
}

const deny = (pattern: string) => ({ policy: { rules: [{ id: "house", decision: "deny", tools: [pattern] }] } });
const runs = (outcome: unknown): boolean => JSON.stringify(outcome).includes(':"transfer_funds"');

describe("a denied tool beside a new one of the same name", () => {
  test("a denied tool stays denied at its address, and the new one is withheld until it is approved", async (context) => {
    const { folder, list } = makeBank(context, deny("myBank.transferFunds"));
    list("transfer_funds", "balance");
    const denied = { transferFunds: "POLICY_DENIED", balance: "balance" };
    assert.deepEqual(await run(folder), denied);
    list("transferFunds", "transfer_funds", "balance");
    assert.deepEqual(await run(folder), denied);
    const servers = await runGlovebox(["servers"], { folder });
    assert.match(servers.stdout, /withheld: transferFunds, collides\n/);
    assert.equal((await runGlovebox(["servers", "approve", "my-bank", "transferFunds", "--yes"], { folder })).code, 0);
    const digits = createHash("sha256").update("transferFunds").digest("hex").slice(0, 6);
    assert.deepEqual(await run(folder), { ...denied, [`transferFunds${digits}`]: "POLICY_DENIED" });
  });

  test("a denied tool is denied by every name also when both come with the first list", async (context) => {
    for (const pattern of ["myBank.transferFunds", "my-bank.transfer_funds"]) {
      const { folder, list } = makeBank(context, deny(pattern));
      list("transferFunds", "transfer_funds");
      assert.equal(runs(await run(folder)), false, pattern);
    }
    const { folder, list } = makeBank(context, deny("my-bank.balance"));
    list("transferFunds", "transfer_funds");
    assert.equal(runs(await run(folder)), true);
  });
});

describe("a pattern that matches no tool", () => {
  const quotas = { rates: [{ tools: ["my-bank.balance"], calls: 9 }], prices: { "other.*": 1 } };
  const settings = { ...deny("myBank.transfer"), quotas };
  const reported = ["rule house", "quotas.prices"];

  test("a pattern that matches no tool is reported by policy, doctor and serve, and others are not", async (context) => {
    const { folder, list } = makeBank(context, settings);
    list("transfer_funds", "balance");
    const early = JSON.parse((await runGlovebox(["policy", "--json"], { folder })).stdout) as Record<string, unknown>;
    assert.deepEqual(early["idlePatterns"], [{ setting: "quotas.prices", pattern: "other.*" }]);
    const { checks } = JSON.parse((await runGlovebox(["doctor", "--json"], { folder })).stdout) as {
      readonly checks: readonly Record<string, string>[];
    };
    assert.deepEqual(
      checks.filter(({ name }) => name === "pattern").map(({ state, message }) => `${state} ${message}`),
      [
        'warning rule house: "myBank.transfer" matches no known tool',
        'warning quotas.prices: "other.*" matches no known tool',
      ],
    );
    const shown = await runGlovebox(["policy"], { folder });
    assert.match(shown.stdout, /warning rule house: "myBank\.transfer" matches no known tool\n/);
    assert.doesNotMatch(shown.stdout, /my-bank\.balance/);
    const served = await serveFor(context, folder);
    const { idlePatterns } = served as unknown as { readonly idlePatterns: readonly { readonly setting: string }[] };
    assert.deepEqual(
      idlePatterns.map(({ setting }) => setting),
      reported,
    );
  });
});
