/**
 * Forty ordinary tasks of one person over the demo and reference servers, in five conversations. They were written down
 * before the policy was changed for them: the balanced profile should ask at most four times. `{dir}` is the folder of
 * the file server, which holds `FILES`.
 */

export interface OrdinaryTask {
  /** The client's session; later ones inherit the labels of earlier ones. */
  readonly session: number;
  readonly does: string;
  readonly code: string;
}

export const FILES: Readonly<Record<string, string>> = {
  "notes/monday.md": "# Monday\nTODO call Ada\nshipped 3 parcels\n",
  "notes/tuesday.md": "# Tuesday\nTODO order paper\nTODO write report\n",
  "sales.csv": "region,amount\nnorth,120\nsouth,80\nnorth,40\n",
  "package.json": '{ "name": "shop", "version": "1.4.2" }\n',
  "app.log": "INFO start\nERROR disk\nINFO run\nERROR net\n",
};

const task = (session: number, does: string, code: string): OrdinaryTask => ({ session, does, code });
const read = (path: string): string => `(await files.readTextFile({ path: "{dir}/${path}" })).content`;

export const ORDINARY_TASKS: readonly OrdinaryTask[] = [
  // A morning in the shop, with a look at the web.
  task(1, "lists the products", "return (await inventory.listProducts({})).products.length"),
  task(
    1,
    "finds what is sold out",
    "const { products } = await inventory.listProducts({ in_stock: false }); return products.map((p) => p.sku)",
  ),
  task(
    1,
    "counts orders by status",
    "const { orders } = await inventory.listOrders({}); return orders.reduce((n, o) => ({ ...n, [o.status]: (n[o.status] ?? 0) + 1 }), {})",
  ),
  task(
    1,
    "sets the stock of a product",
    "const { products } = await inventory.listProducts({}); return (await inventory.updateStock({ sku: products[0].sku, stock: 12 })).stock",
  ),
  task(
    1,
    "restocks everything that is sold out",
    `const { products } = await inventory.listProducts({ in_stock: false });
     for (const { sku } of products) await inventory.updateStock({ sku, stock: 5 });
     return products.length`,
  ),
  task(1, "adds two numbers", "return await everything.getSum({ a: 2, b: 40 })"),
  task(
    1,
    "adds fifty numbers at once",
    "return (await Promise.all(Array.from({ length: 50 }, (_, i) => everything.getSum({ a: i, b: 1 })))).length",
  ),
  task(1, "asks for the weather", 'return await everything.getStructuredContent({ location: "Chicago" })'),
  task(1, "fetches a page", 'return (await web.fetch({ url: "https://example.com/prices" })).result.title'),
  task(
    1,
    "opens a page and reads it",
    `await browser.browserNavigate({ url: "https://example.com/shop" });
     return (await browser.browserSnapshot({})).result.text.length`,
  ),
  task(
    1,
    "looks at a menu of a page",
    `await browser.browserNavigate({ url: "https://example.com/menu" });
     await browser.browserHover({ target: "e12" });
     return (await browser.browserSnapshot({})).result.title`,
  ),
  // Files.
  task(2, "reads the version", `return JSON.parse(${read("package.json")}).version`),
  task(2, "lists a folder", 'return await files.listDirectory({ path: "{dir}/notes" })'),
  task(
    2,
    "sums sales by region",
    `const rows = ${read("sales.csv")}.trim().split("\\n").slice(1).map((line) => line.split(","));
     return rows.reduce((sums, [region, amount]) => ({ ...sums, [region]: (sums[region] ?? 0) + Number(amount) }), {})`,
  ),
  task(
    2,
    "collects the open points of all notes",
    `const texts = await Promise.all(["monday", "tuesday"].map((day) => files.readTextFile({ path: "{dir}/notes/" + day + ".md" })));
     return texts.flatMap(({ content }) => content.split("\\n").filter((line) => line.startsWith("TODO")))`,
  ),
  task(
    2,
    "counts errors in a log",
    `return ${read("app.log")}.split("\\n").filter((l) => l.startsWith("ERROR")).length`,
  ),
  task(2, "makes a folder", 'return (await files.createDirectory({ path: "{dir}/reports" })).content'),
  task(
    2,
    "writes a report",
    `const sales = ${read("sales.csv")};
     await files.writeFile({ path: "{dir}/reports/sales.md", content: "# Sales\\n" + sales });
     return "written"`,
  ),
  task(
    2,
    "corrects a word in a file",
    `await files.editFile({ path: "{dir}/notes/monday.md", edits: [{ oldText: "parcels", newText: "packages" }] });
     return "done"`,
  ),
  task(
    2,
    "renames a file",
    'return (await files.moveFile({ source: "{dir}/app.log", destination: "{dir}/old.log" })).content',
  ),
  task(2, "finds files by name", 'return await files.searchFiles({ path: "{dir}", pattern: "**/*.md" })'),
  // The knowledge graph.
  task(
    3,
    "remembers a person",
    `return await memory.createEntities({ entities: [{ name: "Ada", entityType: "person", observations: ["likes tea"] }] })`,
  ),
  task(
    3,
    "remembers a company and who works there",
    `await memory.createEntities({ entities: [{ name: "Analytical", entityType: "company", observations: [] }] });
     return await memory.createRelations({ relations: [{ from: "Ada", to: "Analytical", relationType: "works at" }] })`,
  ),
  task(3, "looks a person up", 'return (await memory.searchNodes({ query: "Ada" })).entities.length'),
  task(
    3,
    "adds what was learned",
    'return await memory.addObservations({ observations: [{ entityName: "Ada", contents: ["moved to Turin"] }] })',
  ),
  task(3, "reads the whole graph", "return (await memory.readGraph({})).entities.map((e) => e.name)"),
  task(
    3,
    "puts the open points of the notes into the graph",
    `const text = ${read("notes/tuesday.md")};
     const todos = text.split("\\n").filter((line) => line.startsWith("TODO"));
     return await memory.createEntities({ entities: todos.map((name) => ({ name, entityType: "todo", observations: [] })) })`,
  ),
  task(
    3,
    "writes the graph to a file",
    `const graph = await memory.readGraph({});
     await files.writeFile({ path: "{dir}/graph.json", content: JSON.stringify(graph) });
     return graph.entities.length`,
  ),
  // The web again, by a person who has worked with files before.
  task(
    4,
    "fetches two pages and compares them",
    `
     const [one, other] = await Promise.all(["a", "b"].map((page) => web.fetch({ url: "https://example.com/" + page })));
     return one.result.title === other.result.title`,
  ),
  task(4, "fetches one more page", 'return (await web.fetch({ url: "https://example.com/c" })).result.links'),
  task(
    4,
    "saves a page as a note",
    `const page = await web.fetch({ url: "https://example.com/d" });
     await files.writeFile({ path: "{dir}/notes/page.md", content: page.result.text });
     return "saved"`,
  ),
  task(
    4,
    "opens the shop again",
    `await browser.browserNavigate({ url: "https://example.com/shop" });
     return (await browser.browserSnapshot({})).result.title`,
  ),
  task(4, "takes a picture of the page", "return typeof (await browser.browserTakeScreenshot({})).result"),
  task(4, "reads the console of the page", "return (await browser.browserConsoleMessages({})).result"),
  task(4, "waits for the page", "return (await browser.browserWaitFor({ time: 1 })).result"),
  task(
    4,
    "opens another page of the shop",
    `await browser.browserNavigate({ url: "https://example.com/shop/tea" });
     return (await browser.browserSnapshot({})).result.links`,
  ),
  // Cleaning up.
  task(5, "forgets the open points", 'return await memory.deleteEntities({ entityNames: ["TODO order paper"] })'),
  task(
    5,
    "takes a product out of the shop",
    "const { products } = await inventory.listProducts({}); return await inventory.deleteProduct({ sku: products[1].sku })",
  ),
  task(5, "closes the browser", "await browser.browserClose({}); return 1"),
  task(
    5,
    "reports what is left",
    `const [{ products }, graph] = await Promise.all([inventory.listProducts({}), memory.readGraph({})]);
     await files.writeFile({ path: "{dir}/reports/left.md", content: products.length + " products, " + graph.entities.length + " nodes" });
     return "reported"`,
  ),
];
