/** The invented data of the demo upstream: 30 products and 60 orders, the same at every start. */

import * as z from "zod";

import { DAY_MS } from "../../timing/index.ts";

const CATEGORIES = ["kitchen", "garden", "office", "toys", "outdoor"] as const;
const ORDER_STATUSES = ["pending", "shipped", "delivered", "cancelled"] as const;

export const CATEGORY = z.enum(CATEGORIES);
export const ORDER_STATUS = z.enum(ORDER_STATUSES);
export const SKU = z.string().describe("Stock keeping unit, such as SKU-007");
export const PRODUCT = z.object({
  sku: SKU,
  name: z.string(),
  category: CATEGORY,
  price_cents: z.int().min(0),
  stock: z.int().min(0).describe("Pieces in the warehouse"),
});
export const ORDER = z.object({
  id: z.string(),
  customer: z.string(),
  status: ORDER_STATUS,
  placed_on: z.string().describe("Date, YYYY-MM-DD"),
  lines: z.array(z.object({ sku: SKU, quantity: z.int().min(1) })),
  total_cents: z.int().min(0),
});

export type Product = Readonly<z.output<typeof PRODUCT>>;

/** Six names each, in the order of CATEGORIES. */
const NAMES: Readonly<Record<Product["category"], readonly string[]>> = {
  kitchen: ["Copper kettle", "Bread knife", "Mixing bowl", "Pepper mill", "Cast-iron pan", "Measuring jug"],
  garden: ["Watering can", "Hand trowel", "Seed tray", "Pruning shears", "Garden hose", "Rain gauge"],
  office: ["Desk lamp", "Paper tray", "Fountain pen", "Desk mat", "Label maker", "Wall calendar"],
  toys: ["Wooden train", "Spinning top", "Puzzle box", "Kite", "Marble run", "Building blocks"],
  outdoor: ["Camping stove", "Head torch", "Folding chair", "Thermos flask", "Sleeping mat", "Rope"],
};

const CUSTOMERS = ["Ada Verne", "Bruno Lindt", "Chika Obi", "Dana Sørensen", "Emil Novak", "Fatima Rahal"] as const;

const FIRST_DAY = Date.UTC(2026, 0, 5);

/** Prices and stock follow fixed steps; every seventh product is out of stock, so that filters find something. */
export function createProducts(): readonly Product[] {
  return CATEGORIES.flatMap((category) => NAMES[category].map((name) => ({ category, name }))).map(
    ({ category, name }, index) => ({
      sku: `SKU-${String(index + 1).padStart(3, "0")}`,
      name,
      category,
      price_cents: 450 + ((index * 1375) % 9600),
      stock: index % 7 === 6 ? 0 : 3 + ((index * 11) % 40),
    }),
  );
}

/** Two orders a day, one to three lines each; totals are the sums of the prices that `products` have. */
export function createOrders(products: readonly Product[]): readonly z.output<typeof ORDER>[] {
  return Array.from({ length: 60 }, (_, index) => {
    const lines = Array.from({ length: 1 + (index % 3) }, (_, line) => ({
      product: pick(products, index * 7 + line * 11),
      quantity: 1 + ((index + line) % 4),
    }));
    return {
      id: `ORD-${1001 + index}`,
      customer: pick(CUSTOMERS, index * 5 + Math.floor(index / 6)),
      status: pick(ORDER_STATUSES, index + Math.floor(index / 7)),
      placed_on: new Date(FIRST_DAY + Math.floor(index / 2) * DAY_MS).toISOString().slice(0, 10),
      lines: lines.map(({ product, quantity }) => ({ sku: product.sku, quantity })),
      total_cents: lines.reduce((sum, { product, quantity }) => sum + product.price_cents * quantity, 0),
    };
  });
}

function pick<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new TypeError("Nothing to pick from");
  return item;
}
