// A program as a model would write it. Run it with `npx --no-install glovebox run examples/demo.ts`, in any folder.
// `inventory` is the demo upstream: a global object whose methods are tools.

const [{ products }, { orders }] = await Promise.all([inventory.listProducts({}), inventory.listOrders({})]);

const stockByCategory: Record<string, number> = {};
for (const { category, stock } of products) {
  stockByCategory[category] = (stockByCategory[category] ?? 0) + stock;
}
console.log(`${products.length} products and ${orders.length} orders read`);

({
  stockByCategory,
  soldOut: products.filter(({ stock }) => stock === 0).map(({ name }) => name),
  pendingOrders: orders.filter(({ status }) => status === "pending").length,
});
