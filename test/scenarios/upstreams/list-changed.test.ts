/**
 * A connected client is notified of changed lists when an operator has approved or restarted something in another
 * process.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";

import { ERAS } from "../../../src/surfaces/mcp/fixtures/try-client.ts";
import { connect } from "../../fixtures/mcp-client.ts";
import { makeFolder, probe, runGlovebox, serveFor } from "../../fixtures/product.ts";

test("notifications about changed lists", async (suite) => {
  const folder = makeFolder(suite);
  const server = join(folder, "server.mjs");
  writeFileSync(server, "process.exit(1);\n");
  const config = {
    mcpServers: { probe: { ...probe(), pin: "approve" }, late: { command: process.execPath, args: [server] } },
    expose: "both",
    store: { url: "sqlite:./it.db" },
  };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  const { mcp } = await serveFor(suite, folder);
  const client = await connect(suite, mcp, ERAS[0]);
  const namesOf = async (): Promise<readonly string[]> =>
    (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.includes("_"));
  /** Resolves once all three kinds of lists were announced. */
  const untilTold = (): Promise<unknown> =>
    Promise.all(
      (["tools", "resources", "prompts"] as const).map(
        (list) =>
          new Promise<void>((told) => {
            client.setNotificationHandler(`notifications/${list}/list_changed`, () => told());
          }),
      ),
    );
  assert.deepEqual(await namesOf(), []);

  await suite.test("changed lists are announced after an approval", async () => {
    const told = untilTold();
    assert.equal((await runGlovebox(["servers", "approve", "probe", "echo", "--yes"], { folder })).code, 0);
    await told;
    assert.deepEqual(await namesOf(), ["probe_echo"]);
  });

  await suite.test("changed lists are announced after a restart that fixed a server", async () => {
    const gallery = pathToFileURL(resolve("test/fixtures/servers/files-server.mjs")).href;
    writeFileSync(server, `import ${JSON.stringify(gallery)};\n`);
    const told = untilTold();
    assert.equal((await runGlovebox(["servers", "restart", "late"], { folder })).code, 0);
    await told;
    assert.deepEqual(await namesOf(), ["late_object", "late_pictures", "probe_echo"]);
    assert.deepEqual(
      (await client.listPrompts()).prompts.map(({ name }) => name),
      ["late_show"],
    );
  });
});
