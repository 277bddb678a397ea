/**
 * The demo upstream: an MCP server over stdio with a made-up shop, so that a first program works without any network
 * or account. It runs when it is executed, and ends when its input does. Each instance has its own copy of the data.
 */

import { McpServer } from "@modelcontextprotocol/server";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

import { CATEGORY, ORDER, ORDER_STATUS, PRODUCT, SKU, createOrders, createProducts } from "./inventory-data.ts";
import type { Product } from "./inventory-data.ts";

const READ = { readOnlyHint: true, openWorldHint: false } as const;
const WRITE = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const;
const DESTROY = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false } as const;

type Shelf = Map<string, Product>;

/** A server with fresh data, to be connected to one transport. */
function createInventoryServer(): McpServer {
  const server = new McpServer({ name: "inventory", title: "Demo inventory", version: "1.0.0" });
  const products = createProducts();
  const shelf: Shelf = new Map(products.map((item) => [item.sku, item]));
  registerProductTools(server, shelf);
  registerOrderTool(server, products);
  registerChangeTools(server, shelf);
  return server;
}

function registerProductTools(server: McpServer, shelf: Shelf): void {
  server.registerTool(
    "list_products",
    {
      title: "List products",
      description: "Lists the products of the shop, all of them or those of one category or availability.",
      inputSchema: z.strictObject({
        category: CATEGORY.optional(),
        in_stock: z.boolean().optional().describe("true: only available ones, false: only sold out ones"),
      }),
      outputSchema: z.object({ products: z.array(PRODUCT) }),
      annotations: READ,
    },
    ({ category, in_stock }) =>
      answer({
        products: [...shelf.values()].filter(
          (item) =>
            (category === undefined || item.category === category) &&
            (in_stock === undefined || item.stock > 0 === in_stock),
        ),
      }),
  );
  server.registerTool(
    "get_product",
    {
      title: "Get a product",
      description: "Returns one product by its SKU; an unknown SKU is an error.",
      inputSchema: z.strictObject({ sku: SKU }),
      outputSchema: PRODUCT,
      annotations: READ,
    },
    (args) => withProduct(shelf, args.sku, (item) => answer(item)),
  );
}

function registerOrderTool(server: McpServer, products: readonly Product[]): void {
  const orders = createOrders(products);
  server.registerTool(
    "list_orders",
    {
      title: "List orders",
      description: "Lists orders, newest last, optionally of one status or one customer (full name).",
      inputSchema: z.strictObject({ status: ORDER_STATUS.optional(), customer: z.string().optional() }),
      outputSchema: z.object({ orders: z.array(ORDER) }),
      annotations: READ,
    },
    ({ status, customer }) =>
      answer({
        orders: orders.filter(
          (found) =>
            (status === undefined || found.status === status) &&
            (customer === undefined || found.customer === customer),
        ),
      }),
  );
}

function registerChangeTools(server: McpServer, shelf: Shelf): void {
  server.registerTool(
    "update_stock",
    {
      title: "Set the stock",
      description: "Sets how many pieces of a product are in the warehouse and returns the product.",
      inputSchema: z.strictObject({ sku: SKU, stock: z.int().min(0).max(100_000) }),
      outputSchema: PRODUCT,
      annotations: WRITE,
    },
    (args) =>
      withProduct(shelf, args.sku, (item) => {
        const changed = { ...item, stock: args.stock };
        shelf.set(changed.sku, changed);
        return answer(changed);
      }),
  );
  server.registerTool(
    "delete_product",
    {
      title: "Delete a product",
      description: "Removes a product for good. Orders that name it stay.",
      inputSchema: z.strictObject({ sku: SKU }),
      outputSchema: z.object({ deleted: SKU }),
      annotations: DESTROY,
    },
    (args) =>
      withProduct(shelf, args.sku, (item) => {
        shelf.delete(item.sku);
        return answer({ deleted: item.sku });
      }),
  );
}

function withProduct(shelf: Shelf, wanted: string, use: (item: Product) => CallToolResult): CallToolResult {
  const item = shelf.get(wanted);
  if (item) return use(item);
  const text = `Unknown product ${JSON.stringify(wanted)}; list_products shows all`;
  return { isError: true, content: [{ type: "text", text }] };
}

/** Structured content for programs, and the same as text for clients that know no structure. */
function answer(value: object): CallToolResult {
  return { structuredContent: { ...value }, content: [{ type: "text", text: JSON.stringify(value) }] };
}

serveStdio(createInventoryServer);
