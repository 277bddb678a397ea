/** Tasks that need several servers or change something. */

import { call } from "../task.ts";
import type { Conversation } from "../task.ts";

export const ACROSS: Conversation = {
  title: "Across servers",
  tasks: [
    {
      name: "notes become entities",
      ask: "Store each note of WORK/notes in the knowledge graph: its heading as name, type note, its first sentence as observation.",
      needs: ["files.listDirectory", "files.readTextFile", "memory.createEntities"],
      searches: ["list and read several files", "create entities in the knowledge graph"],
      program: `const { content: listing } = await files.listDirectory({ path: "WORK/notes" });
const names = listing.split("\\n").map((line) => line.replace("[FILE] ", ""));
const notes = await Promise.all(names.map((name) => files.readTextFile({ path: \`WORK/notes/\${name}\` })));
const { entities } = await memory.createEntities({
  entities: notes.map(({ content }) => {
    const [heading, sentence] = content.split("\\n").filter((line) => line !== "");
    return { name: "Note " + heading.slice(2), entityType: "note", observations: [sentence] };
  }),
});
return entities.map((entity) => entity.name);`,
      expected: ["Note Ada", "Note Alan", "Note Grace"],
      verify: {
        program: `return (await memory.openNodes({ names: ["Note Alan"] })).entities[0].observations`,
        expected: ["Works on the halting problem."],
      },
      plain: [
        [call("files", "list_directory", { path: "WORK/notes" })],
        [
          call("files", "read_multiple_files", {
            paths: ["WORK/notes/ada.md", "WORK/notes/alan.md", "WORK/notes/grace.md"],
          }),
        ],
        [
          call("memory", "create_entities", {
            entities: [
              { name: "Note Ada", entityType: "note", observations: ["Works on the engine."] },
              { name: "Note Alan", entityType: "note", observations: ["Works on the halting problem."] },
              { name: "Note Grace", entityType: "note", observations: ["Works on the compiler."] },
            ],
          }),
        ],
      ],
    },
    {
      name: "sales and stock",
      ask: "How many pieces of each product in WORK/sales.csv are in stock?",
      needs: ["files.readTextFile", "inventory.listProducts"],
      searches: ["read a file", "list products with their stock"],
      program: `const [{ content }, { products }] = await Promise.all([
  files.readTextFile({ path: "WORK/sales.csv" }),
  inventory.listProducts({}),
]);
const sold = new Set(content.trim().split("\\n").slice(1).map((line) => line.split(",")[1]));
const stock = new Map(products.map((product) => [product.name, product.stock]));
return Object.fromEntries([...sold].map((name) => [name, stock.get(name) ?? null]));`,
      expected: { "Copper kettle": 3, "Desk lamp": 15, Kite: 34, "Garden hose": 33, Umbrella: null },
      plain: [[call("files", "read_text_file", { path: "WORK/sales.csv" }), call("inventory", "list_products", {})]],
    },
    {
      name: "best customers",
      ask: "Who are the three best customers by order value?",
      needs: ["inventory.listOrders"],
      searches: ["list orders"],
      program: `const { orders } = await inventory.listOrders({});
const totals = new Map<string, number>();
for (const order of orders) totals.set(order.customer, (totals.get(order.customer) ?? 0) + order.total_cents);
return [...totals].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, cents]) => \`\${name}: \${cents / 100}\`);`,
      expected: ["Bruno Lindt: 2729", "Dana Sørensen: 2369", "Fatima Rahal: 2254"],
      plain: [[call("inventory", "list_orders", {})]],
    },
    {
      name: "sold out products are restocked",
      ask: "Set the stock of every sold out product to 5.",
      needs: ["inventory.listProducts", "inventory.updateStock"],
      searches: ["set the stock of a product"],
      program: `const { products } = await inventory.listProducts({ in_stock: false });
const changed = [];
for (const { sku } of products) changed.push(await inventory.updateStock({ sku, stock: 5 }));
return changed.map((product) => [product.sku, product.stock]);`,
      expected: [
        ["SKU-007", 5],
        ["SKU-014", 5],
        ["SKU-021", 5],
        ["SKU-028", 5],
      ],
      verify: {
        program: `return (await inventory.listProducts({ in_stock: false })).products.length`,
        expected: 0,
      },
      plain: [
        [call("inventory", "list_products", { in_stock: false })],
        ["SKU-007", "SKU-014", "SKU-021", "SKU-028"].map((sku) => call("inventory", "update_stock", { sku, stock: 5 })),
      ],
    },
    {
      name: "a change without await",
      ask: "Set the stock of SKU-001 to 9.",
      needs: ["inventory.updateStock"],
      searches: [],
      mistake: "does not wait for a call that changes something",
      program: `inventory.updateStock({ sku: "SKU-001", stock: 9 });
return "done";`,
      expected: "done",
      verify: { program: `return (await inventory.getProduct({ sku: "SKU-001" })).stock`, expected: 9 },
      plain: [[call("inventory", "update_stock", { sku: "SKU-001", stock: 9 })]],
    },
    {
      name: "a file is moved",
      ask: "Move WORK/done.md into a new folder WORK/archive.",
      needs: ["files.createDirectory", "files.moveFile"],
      searches: ["move a file into a new folder"],
      program: `await files.createDirectory({ path: "WORK/archive" });
await files.moveFile({ source: "WORK/done.md", destination: "WORK/archive/done.md" });
return "moved";`,
      expected: "moved",
      verify: {
        program: `return (await files.listDirectory({ path: "WORK/archive" })).content`,
        expected: "[FILE] done.md",
      },
      plain: [
        [call("files", "create_directory", { path: "WORK/archive" })],
        [call("files", "move_file", { source: "WORK/done.md", destination: "WORK/archive/done.md" })],
      ],
    },
    {
      name: "a file is edited",
      ask: "Set the version in WORK/package.json to 2.5.0.",
      needs: ["files.editFile"],
      searches: ["replace text in a file"],
      program: `await files.editFile({
  path: "WORK/package.json",
  edits: [{ oldText: '"version": "2.4.1"', newText: '"version": "2.5.0"' }],
});
return "2.5.0";`,
      expected: "2.5.0",
      verify: {
        program: `return JSON.parse((await files.readTextFile({ path: "WORK/package.json" })).content).version`,
        expected: "2.5.0",
      },
      plain: [
        [
          call("files", "edit_file", {
            path: "WORK/package.json",
            edits: [{ oldText: '"version": "2.4.1"', newText: '"version": "2.5.0"' }],
          }),
        ],
      ],
    },
    {
      name: "a name as the server writes it",
      ask: "How many dependencies has WORK/package.json?",
      needs: ["files.readTextFile"],
      searches: [],
      mistake: "writes `read_text_file`",
      program: `const { content } = await files.read_text_file({ path: "WORK/package.json" });
return Object.keys(JSON.parse(content).dependencies).length;`,
      expected: 2,
      plain: [[call("files", "read_text_file", { path: "WORK/package.json" })]],
    },
    {
      name: "a read without await",
      ask: "Is there a TODO in WORK/notes/grace.md?",
      needs: ["files.readTextFile"],
      searches: [],
      mistake: "forgets `await`",
      program: `const note = files.readTextFile({ path: "WORK/notes/grace.md" });
return note.content.includes("TODO");`,
      expected: true,
      plain: [[call("files", "read_text_file", { path: "WORK/notes/grace.md" })]],
    },
    {
      name: "a call by name",
      ask: "What is the first line of WORK/notes/alan.md?",
      needs: ["files.readTextFile"],
      searches: [],
      mistake: "calls `mcp.callTool` with the name of the tool",
      program: `const { content } = await mcp.callTool("files.readTextFile", { path: "WORK/notes/alan.md" });
return content.split("\\n")[0];`,
      expected: "# Alan",
      plain: [[call("files", "read_text_file", { path: "WORK/notes/alan.md" })]],
    },
  ],
};
