/** Writes the table of the bridge's steps from its list into ARCHITECTURE.md, between its two marks. */

import { readFileSync } from "node:fs";

import { STEPS } from "../src/bridge/steps/step-list.ts";
import { fillSection } from "./room-table.ts";

const BEGIN = "<!-- steps: generated from src/bridge/steps/step-list.ts by `npm run generate` -->";
const END = "<!-- /steps -->";
const LIST = new URL("../src/bridge/steps/step-list.ts", import.meta.url);

/** Returns the document with the current table; everything outside the marks is unchanged. */
export function withStepTable(document: string): string {
  const source = readFileSync(LIST, "utf8");
  const rows = STEPS.map(({ name, phase }, at) => `| ${at + 1} | ${name} | ${findComment(source, name)} | ${phase} |`);
  const table = ["| | Step | What it does | Runs |", "| --- | --- | --- | --- |", ...rows].join("\n");
  return fillSection(document, { begin: BEGIN, end: END }, table);
}

/** The comment above a step. */
function findComment(source: string, name: string): string {
  const lines = source.split("\n");
  const above = lines[lines.findIndex((line) => line.includes(`{ name: "${name}",`)) - 1];
  const comment = /^ {2}\/\/ (.+)$/.exec(above ?? "")?.[1];
  if (comment === undefined) throw new TypeError(`The step ${JSON.stringify(name)} has no comment in ${LIST.pathname}`);
  return comment;
}
