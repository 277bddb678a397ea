/** The invented data of the demo upstream: 30 products and 60 orders, the same at every start. */

export const CATEGORIES = ["kitchen", "garden", "office", "toys", "outdoor"] as const;
export type Category = (typeof CATEGORIES)[number];

export const ORDER_STATUSES = ["pending", "shipped", "delivered", "cancelled"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly category: Category;
  readonly price_cents: number;
  readonly stock: number;
}

export interface OrderLine {
  readonly sku: string;
  readonly quantity: number;
}

export interface Order {
  readonly id: string;
  readonly customer: string;
  readonly status: OrderStatus;
  readonly placed_on: string;
  readonly lines: readonly OrderLine[];
  readonly total_cents: number;
}

/** Six names each, in the order of CATEGORIES. */
const NAMES: Readonly<Record<Category, readonly string[]>> = {
  kitchen: ["Copper kettle", "Bread knife", "Mixing bowl", "Pepper mill", "Cast-iron pan", "Measuring jug"],
  garden: ["Watering can", "Hand trowel", "Seed tray", "Pruning shears", "Garden hose", "Rain gauge"],
  office: ["Desk lamp", "Paper tray", "Fountain pen", "Desk mat", "Label maker", "Wall calendar"],
  toys: ["Wooden train", "Spinning top", "Puzzle box", "Kite", "Marble run", "Building blocks"],
  outdoor: ["Camping stove", "Head torch", "Folding chair", "Thermos flask", "Sleeping mat", "Rope"],
};

const CUSTOMERS = ["Ada Verne", "Bruno Lindt", "Chika Obi", "Dana Sørensen", "Emil Novak", "Fatima Rahal"] as const;

const FIRST_DAY = Date.UTC(2026, 0, 5);
const DAY_MS = 24 * 60 * 60 * 1000;

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
export function createOrders(products: readonly Product[]): readonly Order[] {
  return Array.from({ length: 60 }, (_, index) => {
    const lines = createLines(products, index);
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

interface PricedLine {
  readonly product: Product;
  readonly quantity: number;
}

function createLines(products: readonly Product[], index: number): readonly PricedLine[] {
  return Array.from({ length: 1 + (index % 3) }, (_, line) => ({
    product: pick(products, index * 7 + line * 11),
    quantity: 1 + ((index + line) % 4),
  }));
}

function pick<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new TypeError("Nothing to pick from");
  return item;
}
