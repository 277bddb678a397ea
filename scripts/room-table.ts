/** Puts the table of rooms, made from `test/rooms.ts`, into ARCHITECTURE.md between its two marks. */

import { GATES, ROOMS } from "../test/rooms.ts";

const BEGIN = "<!-- rooms: generated from test/rooms.ts by `npm run generate` -->";
const END = "<!-- /rooms -->";

/** The document with today's table; everything outside the marks stays as it is. */
export function withRoomTable(document: string): string {
  const start = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (start < 0 || end < start) throw new Error(`ARCHITECTURE.md needs the marks ${BEGIN} and ${END}`);
  return `${document.slice(0, start)}${BEGIN}\n${createTable()}\n${document.slice(end)}`;
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
