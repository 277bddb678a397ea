/** Writes every generated file; with `--check` it only lists those that are out of date. */

import { readFileSync, writeFileSync } from "node:fs";

import { createConfigSchema } from "../src/config/index.ts";
import { writeApiReference } from "./api-reference.ts";
import { buildGuest } from "./build-guest.ts";
import { createImportRules } from "./import-rules.ts";
import { withRoomTable } from "./room-table.ts";
import { withStepTable } from "./step-table.ts";

interface Generated {
  readonly path: string;
  readonly text: string;
}

async function generateAll(): Promise<readonly Generated[]> {
  return [
    { path: "src/sandbox/guest.generated.ts", text: await buildGuest() },
    { path: "glovebox.schema.json", text: `${JSON.stringify(createConfigSchema(), null, 2)}\n` },
    { path: "docs/reference/library-api.md", text: writeApiReference() },
    { path: ".oxlintrc.rooms.json", text: createImportRules() },
    { path: "ARCHITECTURE.md", text: withStepTable(withRoomTable(readFileSync("ARCHITECTURE.md", "utf8"))) },
  ];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const generated = await generateAll();
const stale = generated.filter(({ path, text }) => readText(path) !== text);
if (process.argv.includes("--check")) {
  for (const { path } of stale) console.error(`${path} is out of date: run \`npm run generate\``);
  process.exit(stale.length === 0 ? 0 : 1);
}
for (const { path, text } of stale) writeFileSync(path, text);
