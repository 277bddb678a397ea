// A program as a model would write it. Run it with `npx glovebox run examples/demo.ts`.
// `inventory` and `everything` are the two demo upstreams; each is a global object whose methods are tools.

interface Product {
  sku: string;
  name: string;
  category: string;
  stock: number;
}

const [{ products }, greeting] = await Promise.all([
  inventory.listProducts({}) as Promise<{ products: Product[] }>,
  everything.echo({ message: "Hello from inside the glovebox" }),
]);

const stockByCategory: Record<string, number> = {};
for (const { category, stock } of products) {
  stockByCategory[category] = (stockByCategory[category] ?? 0) + stock;
}
console.log(`${products.length} products read`);

({ greeting, stockByCategory, soldOut: products.filter(({ stock }) => stock === 0).map(({ name }) => name) });
