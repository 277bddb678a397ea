/** Writes the table of the bridge's steps from its list into ARCHITECTURE.md, between its two marks. */

import { STEPS } from "../src/bridge/steps/step-list.ts";
import { fillSection } from "./room-table.ts";

const BEGIN = "<!-- steps: generated from src/bridge/steps/step-list.ts by `npm run generate` -->";
const END = "<!-- /steps -->";

/** Returns the document with the current table; everything outside the marks is unchanged. */
export function withStepTable(document: string): string {
  const rows = STEPS.map(({ name, does, phase }, at) => `| ${at + 1} | ${name} | ${does} | ${phase} |`);
  const table = ["| | Step | What it does | Runs |", "| --- | --- | --- | --- |", ...rows].join("\n");
  return fillSection(document, { begin: BEGIN, end: END }, table);
}
