/** The demo upstream as Glovebox meets it: through a connector, as a child process. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { createMcpConnector } from "../../connectors/mcp/mcp-connector.ts";
import type { Connector } from "../../connectors/index.ts";
import { isJsonObject, parseConnectorId } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";

import { createOrders, createProducts } from "./inventory-data.ts";

const SCRIPT = fileURLToPath(new URL("inventory.ts", import.meta.url));
const opened: Connector[] = [];
const products = createProducts();
const orders = createOrders(products);

function connect(): Connector {
  const id = parseConnectorId("inventory");
  assert.ok(id);
  const connector = createMcpConnector({
    id,
    settings: {
      kind: "stdio",
      command: process.execPath,
      args: [SCRIPT],
      resolveEnv: async () => ({}),
      startMs: 10_000,
    },
    environment: {},
    keeper: { keep: () => undefined, release: () => undefined },
    egress: openEgress(),
    now: Date.now,
    clean: (text) => text,
  });
  opened.push(connector);
  return connector;
}

after(() => Promise.all(opened.map((connector) => connector.close())));

const shop = connect();
const call = async (name: string, args: JsonObject = {}): Promise<Json> =>
  (await shop.call(name, args, { signal: AbortSignal.timeout(10_000) })).value;

test("the demo data is complete, consistent and the same every time", () => {
  assert.deepEqual([products.length, orders.length], [30, 60]);
  assert.equal(new Set(products.map((item) => item.sku)).size, 30);
  assert.equal(products.filter((item) => item.stock === 0).length, 4);
  assert.equal(new Set(orders.map((found) => found.status)).size, 4);
  const prices = new Map(products.map((item) => [item.sku, item.price_cents]));
  for (const { lines, total_cents } of orders) {
    assert.equal(
      total_cents,
      lines.reduce((sum, line) => sum + (prices.get(line.sku) ?? Number.NaN) * line.quantity, 0),
    );
  }
  assert.deepEqual(createOrders(createProducts()), orders);
});

test("the demo server has five tools with schemas and correct annotations", async () => {
  const tools = await shop.tools();
  assert.deepEqual(
    tools.map(({ name, annotations }) => [name, annotations.readOnly, annotations.destructive ?? null]),
    [
      ["list_products", true, null],
      ["get_product", true, null],
      ["list_orders", true, null],
      ["update_stock", false, false],
      ["delete_product", false, true],
    ],
  );
  assert.ok(tools.every((tool) => tool.output !== null && tool.description !== "" && tool.title !== undefined));
});

test("the demo server filters products and orders", async () => {
  assert.deepEqual(await call("list_products"), { products });
  assert.deepEqual(await call("list_products", { category: "toys", in_stock: true }), {
    products: products.filter((item) => item.category === "toys" && item.stock > 0),
  });
  assert.deepEqual(await call("list_products", { in_stock: false }), {
    products: products.filter((item) => item.stock === 0),
  });
  assert.deepEqual(await call("list_orders", { status: "pending", customer: "Ada Verne" }), {
    orders: orders.filter((found) => found.status === "pending" && found.customer === "Ada Verne"),
  });
  assert.deepEqual(await call("get_product", { sku: "SKU-007" }), products[6]);
});

test("unknown products and wrong arguments are errors with a remedy", async () => {
  await assert.rejects(call("get_product", { sku: "SKU-999" }), {
    code: "UPSTREAM_FAILED",
    message: 'Unknown product "SKU-999"; list_products shows all',
  });
  await assert.rejects(call("list_products", { category: "cars" }), { code: "UPSTREAM_FAILED" });
  await assert.rejects(call("update_stock", { sku: "SKU-001", stock: -1 }), { code: "UPSTREAM_FAILED" });
});

test("changes last as long as the demo server", async () => {
  assert.deepEqual(await call("update_stock", { sku: "SKU-001", stock: 0 }), { ...products[0], stock: 0 });
  assert.deepEqual(await call("delete_product", { sku: "SKU-002" }), { deleted: "SKU-002" });
  const left = await call("list_products");
  assert.ok(isJsonObject(left) && Array.isArray(left["products"]));
  assert.deepEqual(left["products"].slice(0, 2), [{ ...products[0], stock: 0 }, products[2]]);
  await assert.rejects(call("delete_product", { sku: "SKU-002" }), { code: "UPSTREAM_FAILED" });
  const fresh = await connect().call("get_product", { sku: "SKU-002" }, { signal: AbortSignal.timeout(10_000) });
  assert.deepEqual(fresh.value, products[1]);
});

test("the demo server ends when its input ends", async () => {
  const child = spawn(process.execPath, [SCRIPT], { stdio: ["pipe", "ignore", "inherit"] });
  await once(child, "spawn");
  child.stdin.end();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
