/** `tools`, `describe` and `servers` from outside: what an agent would find, and how a broken server is shown. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { INVENTORY, probe, runGlovebox } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-catalog-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
const write = (name: string, mcpServers: unknown): void =>
  writeFileSync(join(folder, name), JSON.stringify({ mcpServers, store: { url: "sqlite::memory:" } }));
write("healthy.json", { inventory: INVENTORY, probe: probe() });
write("broken.json", { inventory: INVENTORY, gone: { command: "no-such-command" }, crash: probe("--crash") });

const ask = (config: string, ...args: readonly string[]): Promise<CommandResult> =>
  runGlovebox([...args, "--config", config], { folder });

const DELETE_PRODUCT = {
  name: "inventory.deleteProduct",
  summary: "Removes a product for good.",
  effect: "destroy",
  server: "inventory",
  upstreamName: "delete_product",
  signature: "inventory.deleteProduct(args: { sku: string }): Promise<{ deleted: string }>",
};

const UPDATE_STOCK = `declare const inventory: {
  /**
   * Sets how many pieces of a product are in the warehouse and returns the product.
   * Effect: write. Upstream name: "update_stock" of "inventory"
   * Call: await inventory.updateStock({ sku: …, stock: … })
   */
  updateStock(args: {
    /** Stock keeping unit, such as SKU-007 */
    sku: string;
    /** ≥ 0, ≤ 100000 */
    stock: number;
  }): Promise<{
    /** Stock keeping unit, such as SKU-007 */
    sku: string;
    name: string;
    category: "kitchen" | "garden" | "office" | "toys" | "outdoor";
    /** ≥ 0 */
    price_cents: number;
    /** Pieces in the warehouse (≥ 0) */
    stock: number;
  }>;
};
`;

const GONE = {
  name: "gone",
  state: "failed",
  transport: "stdio",
  tools: 0,
  cause: "command not found: no-such-command",
  hint: "Check that no-such-command is installed and on the PATH of the gateway, and that the folder ~ exists",
};
const CRASHED = {
  name: "crash",
  state: "failed",
  transport: "stdio",
  tools: 0,
  cause: "the server exited with code 3; its last output: reading settings | cannot find the database",
  hint: "`glovebox servers` shows its last output",
  stderr: ["reading settings", "cannot find the database"],
};

function withoutTimes(servers: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
  return servers.map(({ since, ...server }) => {
    assert.equal(typeof since, "number");
    return server;
  });
}

describe("the catalog on the command line", { concurrency: 2 }, () => {
  test("tools lists every tool of every server with its effect", async () => {
    const { code, stdout, stderr } = await ask("healthy.json", "tools");
    const rows = stdout.trimEnd().split("\n");
    assert.deepEqual(
      rows.map((row) => row.split(/ +/, 2)),
      [
        ["inventory.deleteProduct", "destroy"],
        ["inventory.getProduct", "read"],
        ["inventory.listOrders", "read"],
        ["inventory.listProducts", "read"],
        ["inventory.updateStock", "write"],
        ["probe.about", "read"],
        ["probe.change", "write"],
        ["probe.destroy", "destroy"],
        ["probe.echo", "read"],
        ["probe.hang", "read"],
        ["probe.meet", "read"],
        ["probe.wait", "read"],
      ],
    );
    assert.deepEqual([code, stderr], [0, ""]);
  });

  test("tools with words searches by meaning, plural and case, and --limit reports that there is more", async () => {
    const { code, stdout } = await ask("healthy.json", "tools", "List", "ORDER");
    assert.match(stdout, /^inventory\.listOrders +read /);
    assert.equal(code, 0);
    const limited = await ask("healthy.json", "tools", "--limit", "2");
    assert.equal(limited.stdout.trimEnd().split("\n").length, 2);
    assert.equal(limited.stderr, "More tools match: narrow the query or raise --limit\n");
  });

  test("tools --json is one object with tools and servers", async () => {
    const { code, stdout } = await ask("healthy.json", "tools", "delete a product", "--json", "--limit", "1");
    const { tools, servers, cursor } = JSON.parse(stdout) as {
      tools: unknown;
      servers: Record<string, unknown>[];
      cursor: unknown;
    };
    assert.deepEqual(tools, [DELETE_PRODUCT]);
    assert.deepEqual(withoutTimes(servers), [
      { name: "inventory", state: "ready", transport: "stdio", era: "2026-07-28", tools: 5 },
      { name: "probe", state: "ready", transport: "stdio", era: "2025-11-25", tools: 7 },
    ]);
    assert.equal(typeof cursor, "string");
    assert.equal(code, 0);
  });

  test("describe shows the TypeScript declaration of a tool", async () => {
    const finished = await ask("healthy.json", "describe", "inventory.updateStock");
    assert.deepEqual(finished, { code: 0, stdout: UPDATE_STOCK, stderr: "" });
    const json = await ask("healthy.json", "describe", "inventory.updateStock", "--json");
    assert.deepEqual(JSON.parse(json.stdout), { declarations: UPDATE_STOCK });
  });

  test("describe of a namespace shows all of its tools", async () => {
    const { code, stdout } = await ask("healthy.json", "describe", "inventory", "--detail", "brief");
    assert.deepEqual(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(":", 1)[0]),
      [
        "// inventory.deleteProduct({ sku }) destroy",
        "// inventory.getProduct({ sku }) read",
        "// inventory.listOrders({ status?, customer? }) read",
        "// inventory.listProducts({ category?, in_stock? }) read",
        "// inventory.updateStock({ sku, stock }) write",
      ],
    );
    assert.equal(code, 0);
  });

  test("describe of an unknown name suggests the nearest ones, and ends with 1", async () => {
    const { code, stdout } = await ask("healthy.json", "describe", "inventory.getProdct", "qqqqqqqqqqqqqqqq");
    assert.equal(code, 1);
    assert.equal(
      stdout,
      '// Unknown name "inventory.getProdct". Did you mean inventory.getProduct, inventory.deleteProduct, inventory.listProducts?\n// Unknown name "qqqqqqqqqqqqqqqq". Use search to find tools\n',
    );
  });
});

describe("a broken server beside a healthy one", { concurrency: 2 }, () => {
  test("servers names the cause, the remedy and the last output of a broken server, and ends with 1", async () => {
    const { code, stdout } = await ask("broken.json", "servers");
    assert.equal(
      stdout,
      [
        "inventory: ready, 5 tools, stdio, MCP 2026-07-28, confine off",
        "gone: failed, 0 tools, stdio, confine off",
        `  cause: ${GONE.cause}`,
        `  hint: ${GONE.hint}`,
        "crash: failed, 0 tools, stdio, confine off",
        `  cause: ${CRASHED.cause}`,
        `  hint: ${CRASHED.hint}`,
        "  | reading settings",
        "  | cannot find the database",
        "",
      ].join("\n"),
    );
    assert.equal(code, 1);
  });

  test("describe of a failed server shows its state, cause and next step, and ends with 1", async () => {
    const { code, stdout } = await ask("broken.json", "describe", "gone", "crash.anything");
    assert.equal(
      stdout,
      [
        `// The server "gone" offers no tools; its state is failed: ${GONE.cause}. ${GONE.hint}`,
        `// The server "crash" offers no tools; its state is failed: ${CRASHED.cause}. ${CRASHED.hint}`,
        "",
      ].join("\n"),
    );
    assert.equal(code, 1);
  });

  test("servers --json has the same information as fields", async () => {
    const { code, stdout } = await ask("broken.json", "servers", "--json");
    const { servers } = JSON.parse(stdout) as { servers: Record<string, unknown>[] };
    assert.deepEqual(withoutTimes(servers), [
      { name: "inventory", state: "ready", transport: "stdio", era: "2026-07-28", tools: 5 },
      GONE,
      CRASHED,
    ]);
    assert.equal(code, 1);
  });

  test("servers ends with 0 if all servers are ready", async () => {
    const { code, stdout } = await ask("healthy.json", "servers");
    assert.equal(
      stdout,
      "inventory: ready, 5 tools, stdio, MCP 2026-07-28, confine off\nprobe: ready, 7 tools, stdio, MCP 2025-11-25, confine off\n",
    );
    assert.equal(code, 0);
  });

  test("tools prints on stderr which servers are missing from the list", async () => {
    const { code, stdout, stderr } = await ask("broken.json", "tools");
    assert.equal(stdout.trimEnd().split("\n").length, 5);
    assert.match(stderr, /^gone: failed[\s\S]*^crash: failed/m);
    assert.equal(code, 0);
  });

  test("a program that uses the healthy server completes", async () => {
    const input = "return (await inventory.listProducts({})).products.length";
    const run = await runGlovebox(["run", "-", "--config", "broken.json"], { folder, input });
    assert.deepEqual([run.code, run.stdout], [0, "30\n"]);
  });

  test("a program that uses a broken server fails with an unknown tool", async () => {
    const input = "return await gone.anything({})";
    const run = await runGlovebox(["run", "-", "--json", "--config", "broken.json"], { folder, input });
    const { error } = JSON.parse(run.stdout) as { error: { code: string; message: string } };
    assert.deepEqual([run.code, error.code, error.message], [1, "TOOL_NOT_FOUND", "gone offers no tools now"]);
  });
});
