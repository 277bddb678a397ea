/** A product with real servers and untyped ones, for programs with the mistakes of a model. */

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { createGlovebox, defineAdapter } from "../../src/main.ts";
import type { Glovebox, GloveboxConfig } from "../../src/main.ts";

const ROWS = [
  { product: "anvil", revenue: 120, region: { name: "north" } },
  { product: "rope", revenue: 40, region: { name: "south" } },
  { product: "lamp", revenue: 75, region: { name: "north" } },
];

const ANY_OBJECT = { type: "object", properties: {} } as const;

/** Servers that declare no results, as most do: their values are `any` to a program. */
const sales = defineAdapter({
  name: "sales",
  tools: {
    run_query: {
      description: "Run a SQL query and return its rows",
      input: { type: "object", properties: { sql: { type: "string" } }, required: ["sql"] },
      effect: "read",
      run: () => ROWS,
    },
    get_report: {
      description: "Get the report of a month",
      input: { type: "object", properties: { month: { type: "string" } }, required: ["month"] },
      effect: "read",
      run: () => ({ data: { items: ROWS, total: ROWS.length }, next: null }),
    },
    get_totals: {
      description: "DEPRECATED: use get_sum_of_sales. The totals of all sales",
      input: ANY_OBJECT,
      effect: "read",
      run: () => ({ total: 1 }),
    },
    get_total_sales: { description: "The sum of all sales", input: ANY_OBJECT, effect: "read", run: () => 235 },
    add_note: {
      description: "Add a note to the log",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      effect: "write",
      run: () => "added",
    },
  },
});

const archive = defineAdapter({
  name: "archive",
  tools: {
    run_report: { description: "Run a report of the archive", input: ANY_OBJECT, effect: "read", run: () => ({}) },
    get_total: { description: "Count the boxes of the archive", input: ANY_OBJECT, effect: "read", run: () => 3 },
  },
});

/** `folder` is the only one that the file server may access; it gets three notes. */
export function openServers(folder: string, more: GloveboxConfig = {}): Promise<Glovebox> {
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, `${name}.txt`), `note ${name}\nTODO ${name}\n`);
  const server = (script: string, ...args: readonly string[]) => ({
    command: process.execPath,
    args: [resolve(script), ...args],
  });
  const reference = (name: string): string => `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  return createGlovebox({
    mcpServers: {
      inventory: server("dist/surfaces/demo/inventory.js"),
      files: server(reference("filesystem"), folder),
      memory: { ...server(reference("memory")), env: { MEMORY_FILE_PATH: join(folder, "memory.json") } },
    },
    adapters: [sales, archive],
    policy: { rules: [{ decision: "allow", tools: ["*"] }] },
    analysis: { typeCheck: "before" },
    quotas: { executionsPerMinute: 0, executionMsPerHour: 0 },
    store: { url: "sqlite::memory:" },
    ...more,
  });
}
