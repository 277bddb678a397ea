/** Commands use the gateway that runs on their store, so that servers start once. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { makeUntypedFolder, runGlovebox, serveFor, untilEnded } from "../../fixtures/product.ts";

const MEMORY = resolve("node_modules/@modelcontextprotocol/server-memory/dist/index.js");

it("tools, describe and run use a gateway that runs, and start one of their own for other settings", async (t) => {
  const folder = makeUntypedFolder(t, {
    mcpServers: { notes: { command: "node", args: ["server.mjs"], start: "eager" } },
  });
  const starts = (): number => readFileSync(join(folder, "starts"), "utf8").length;
  writeFileSync(join(folder, "starts"), "");
  const note = `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(join(folder, "starts"))}, "x");`;
  writeFileSync(join(folder, "server.mjs"), `${note} await import(${JSON.stringify(MEMORY)});`);
  const { child } = await serveFor(t, folder);
  while ((await runGlovebox(["tools", "graph", "--json"], { folder })).code !== 0) await sleep(100);
  const found = await runGlovebox(["tools", "graph", "--json"], { folder });
  assert.match(found.stdout, /notes\.readGraph/);
  const before = starts();
  const described = await runGlovebox(["describe", "notes.readGraph"], { folder });
  assert.match(described.stdout, /readGraph\(/);
  const program = "const { entities } = await notes.readGraph({}); return entities.length;";
  const ran = await runGlovebox(["run", "--json", "-"], { folder, input: program });
  assert.equal(JSON.parse(ran.stdout).value, 0, ran.stdout);
  const failed = await runGlovebox(["run", "--json", "-"], { folder, input: "return notes.nothing({});" });
  assert.equal(failed.code, 1);
  assert.equal(starts(), before, "no command started the server again");
  const other = await runGlovebox(["run", "--json", "--calls", "5", "-"], { folder, input: program });
  assert.equal(JSON.parse(other.stdout).value, 0);
  assert.equal(starts(), before + 1, "a command with other limits has a gateway with those limits");
  const ended = untilEnded(child);
  child.kill("SIGKILL");
  await ended;
  const alone = await runGlovebox(["run", "--json", "-"], { folder, input: program });
  assert.equal(JSON.parse(alone.stdout).value, 0, "the socket of a killed gateway is not used");
});
