/** Products that are libraries: each runs in a Node process of its own (`library-host.ts`), reached over stdio. */

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { openLines } from "./open-lines.ts";
import type { Dialect, Product } from "./peer.ts";

const HOST = fileURLToPath(new URL("library-host.ts", import.meta.url));

export const UTCP: Product = describe("@utcp/code-mode 1.2.12, tools in its process", "utcp", {
  call: (tool, args) => `bench.${tool}(${args})`,
});

export const TANSTACK: Product = describe("@tanstack/ai-code-mode 0.3.4, tools in its process", "tanstack", {
  call: (tool, args) => `external_${tool}(${args})`,
});

function describe(name: string, library: "utcp" | "tanstack", dialect: Dialect): Product {
  return {
    name,
    dialect,
    // Packages are found from the folder of the file that imports them.
    prepare: async (folder) => writeFileSync(join(folder, "load.mjs"), "export const load = (name) => import(name);"),
    async open(folder) {
      const args = ["--no-node-snapshot", HOST, folder, library];
      const lines = openLines(spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] }));
      await lines.ask({ code: "" });
      return {
        pid: lines.pid,
        async run(code) {
          const { value, error } = await lines.ask({ code });
          if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
          return value;
        },
        [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose](),
      };
    },
  };
}
