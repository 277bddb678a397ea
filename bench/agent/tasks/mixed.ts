/** Small questions of all kinds, half of them with a mistake. */

import { call, failing } from "../task.ts";
import type { Conversation } from "../task.ts";
import { FILES } from "../world.ts";

export const MIXED: Conversation = {
  title: "Mixed questions",
  tasks: [
    {
      name: "files with a name",
      ask: "Where in WORK are JSON files?",
      needs: ["files.searchFiles"],
      searches: ["find files by pattern"],
      program: `const { content } = await files.searchFiles({ path: "WORK", pattern: "**/*.json" });
return content.split("\\n").map((path) => path.replace("WORK/", "")).sort();`,
      expected: ["config/settings.json", "package.json"],
      plain: [[call("files", "search_files", { path: "WORK", pattern: "**/*.json" })]],
    },
    {
      name: "size of a file",
      ask: "How large is WORK/logs/app.log?",
      needs: ["files.getFileInfo"],
      searches: ["size of a file", "file metadata"],
      program: `const { content } = await files.getFileInfo({ path: "WORK/logs/app.log" });
return Number(/size: (\\d+)/.exec(content)?.[1]);`,
      expected: Buffer.byteLength(FILES["logs/app.log"] ?? ""),
      plain: [[call("files", "get_file_info", { path: "WORK/logs/app.log" })]],
    },
    {
      name: "relations of a machine",
      ask: "Who has to do with the Analytical Engine?",
      needs: ["memory.readGraph"],
      searches: ["relations between entities", "read the whole graph"],
      program: `const { relations } = await memory.readGraph({});
return relations.filter(({ to }) => to === "Analytical Engine").map(({ from, relationType }) => from + " " + relationType);`,
      expected: ["Ada programs", "Charles designs"],
      plain: [[call("memory", "read_graph", {})]],
    },
    {
      name: "orders by status",
      ask: "How many orders have which status?",
      needs: ["inventory.listOrders"],
      searches: ["orders"],
      program: `const { orders } = await inventory.listOrders({});
return orders.reduce((counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }), {});`,
      expected: { pending: 17, shipped: 17, delivered: 17, cancelled: 9 },
      plain: [[call("inventory", "list_orders", {})]],
    },
    {
      name: "a folder with sizes",
      ask: "Which file of WORK/src is the largest?",
      needs: ["files.listDirectoryWithSizes"],
      searches: ["list files sorted by size"],
      program: `const { content } = await files.listDirectoryWithSizes({ path: "WORK/src", sortBy: "size" });
return content.split("\\n")[0].split(/\\s+/)[1];`,
      expected: "gears.ts",
      plain: [[call("files", "list_directory_with_sizes", { path: "WORK/src", sortBy: "size" })]],
    },
    {
      name: "a value outside the choices",
      ask: "Which kitchen products cost less than 20 euros?",
      needs: ["inventory.listProducts"],
      searches: ["list products by category"],
      mistake: "writes `Kitchen` for `kitchen`",
      program: `const { products } = await inventory.listProducts({ category: "Kitchen" });
return products.filter((product) => product.price_cents < 2000).map((product) => product.name);`,
      expected: ["Copper kettle", "Bread knife"],
      plain: [[call("inventory", "list_products", { category: "kitchen" })]],
    },
    {
      name: "one of three files is missing",
      ask: "How many words have the notes of Ada, Bob and Grace in WORK/notes? Leave out missing notes.",
      needs: ["files.readTextFile"],
      searches: [],
      mistake: "reads a file that does not exist",
      program: `const paths = ["WORK/notes/ada.md", "WORK/notes/bob.md", "WORK/notes/grace.md"];
const notes = await Promise.all(paths.map((path) => files.readTextFile({ path })));
return notes.map(({ content }) => content.split(/\\s+/).filter((word) => word !== "").length);`,
      expected: [22, 18],
      plain: [
        [
          call("files", "read_text_file", { path: "WORK/notes/ada.md" }),
          failing("files", "read_text_file", { path: "WORK/notes/bob.md" }),
          call("files", "read_text_file", { path: "WORK/notes/grace.md" }),
        ],
      ],
    },
    {
      name: "a path outside the folder",
      ask: "Which port is in the settings?",
      needs: ["files.readTextFile"],
      searches: [],
      mistake: "guesses the folder",
      program: `const { content } = await files.readTextFile({ path: "/workspace/config/settings.json" });
return JSON.parse(content).port;`,
      expected: 8080,
      plain: [
        [failing("files", "read_text_file", { path: "/workspace/config/settings.json" })],
        [call("files", "read_text_file", { path: "WORK/config/settings.json" })],
      ],
    },
    {
      name: "an import",
      ask: "How many rows has WORK/sales.csv, without its header?",
      needs: ["files.readTextFile"],
      searches: [],
      mistake: "imports a module of Node that it does not use",
      program: `import fs from "fs";
const { content } = await files.readTextFile({ path: "WORK/sales.csv" });
return content.trim().split("\\n").length - 1;`,
      expected: 10,
      plain: [[call("files", "read_text_file", { path: "WORK/sales.csv" })]],
    },
    {
      name: "input as a string",
      ask: "What is SKU-003?",
      needs: ["inventory.getProduct"],
      searches: [],
      mistake: "sends `input` as a string with JSON in it",
      input: '{"sku":"SKU-003"}',
      program: `const product = await inventory.getProduct({ sku: input.sku });
return product.name;`,
      expected: "Mixing bowl",
      plain: [[call("inventory", "get_product", { sku: "SKU-003" })]],
    },
  ],
};
