/** Writes the table of rooms from `test/rooms.ts` into ARCHITECTURE.md, between its two marks. */

import { GATES, ROOMS } from "../test/rooms.ts";

const BEGIN = "<!-- rooms: generated from test/rooms.ts by `npm run generate` -->";
const END = "<!-- /rooms -->";

/** Returns the document with the current table; everything outside the marks is unchanged. */
export function withRoomTable(document: string): string {
  return fillSection(document, { begin: BEGIN, end: END }, createTable());
}

/** Replaces the text between two marks of ARCHITECTURE.md. */
export function fillSection(
  document: string,
  { begin, end }: { readonly begin: string; readonly end: string },
  text: string,
): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`ARCHITECTURE.md needs the marks ${begin} and ${end}`);
  return `${document.slice(0, from)}${begin}\n${text}\n${document.slice(to)}`;
}

function createTable(): string {
  const rows = Object.entries(ROOMS).map(([name, { does, never, imports }]) => {
    const allowed = imports.length === 0 ? "nothing" : imports.map((room) => `\`${room}\``).join(", ");
    return `| \`${name}\` | ${does} | ${never} | ${allowed} |`;
  });
  const gates = GATES.map(({ match, rooms }) => {
    const pattern = match.source.replaceAll("|", "\\|");
    return `| \`${pattern}\` | ${rooms.map((room) => `\`${room}\``).join(", ")} |`;
  });
  return [
    "| Room | What it does | It must never | It may import |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
    "| Package or builtin | Enters through |",
    "| --- | --- |",
    ...gates,
  ].join("\n");
}
