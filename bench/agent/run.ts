/**
 * `npm run bench:agent`: plays tasks as a model would write them, against plain MCP and against Glovebox, with real
 * clients and servers. Prints tokens, round trips, repairs and asks of each task, and the aims. `-- --write` puts them into
 * `docs/design/agents.md`; any other argument chooses the conversations with this text in their title.
 */

import { readFileSync, writeFileSync } from "node:fs";

import { buildIfStale } from "../../scripts/build.ts";

await buildIfStale();
const { playConversation } = await import("./play.ts");
const { writeFigures, writeMisses } = await import("./report.ts");
const { CONVERSATIONS } = await import("./tasks/index.ts");

const PAGE = "docs/design/agents.md";
const FIGURES = /(<!-- figures[^>]*-->\n)[^]*(\n<!-- \/figures -->)/;

const [wanted = ""] = process.argv.slice(2);
const isWritten = wanted === "--write";
const chosen = CONVERSATIONS.filter(({ title }) => isWritten || title.includes(wanted));
const played = [];
for (const conversation of chosen) played.push(...(await playConversation(conversation)));
const figures = writeFigures(played);
console.log(`${figures}\n\n${writeMisses(played)}`);
if (isWritten) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(
    PAGE,
    page.replace(FIGURES, (_, start: string, end: string) => start + figures + end),
  );
}
