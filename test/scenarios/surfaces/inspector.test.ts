/** The official Inspector as a client of the built product, over stdio and HTTP, with its strict checks on. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { passingStore } from "../../fixtures/passing-store.ts";
import { LAUNCHER, cleanEnvironment, getStateHome, makeFolder, probe, serveFor } from "../../fixtures/product.ts";

const INSPECTOR = resolve("node_modules/.bin/mcp-inspector");
const NAMES = ["search", "describe", "execute", "resume"];

interface Answer {
  readonly tools?: readonly { readonly name: string }[];
  readonly structuredContent?: { readonly state: string; readonly value: unknown };
}

async function inspect(folder: string, args: readonly string[]): Promise<Answer> {
  const child = spawn(INSPECTOR, ["--cli", ...args], { cwd: folder, env: cleanEnvironment(folder) });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  assert.equal(code, 0, out + errors);
  return JSON.parse(out) as Answer;
}

test("the Inspector lists and calls the tools", async (suite) => {
  const folder = makeFolder(suite, { mcpServers: { probe: probe() }, store: passingStore() });
  const { mcp } = await serveFor(suite, folder);
  // The Inspector passes few variables on, and not the one of the folder with the consent.
  const state = ["-e", `XDG_STATE_HOME=${getStateHome()}`];
  const targets = { stdio: [...state, process.execPath, LAUNCHER, "mcp"], http: [mcp, "--transport", "http"] };
  for (const [transport, target] of Object.entries(targets)) {
    await suite.test(`the Inspector works over ${transport}, and its strict checks find nothing`, async () => {
      const { tools } = await inspect(folder, [...target, "--method", "tools/list", "--strict"]);
      assert.deepEqual(
        tools?.map(({ name }) => name),
        NAMES,
      );
      const call = ["--method", "tools/call", "--tool-name", "execute", "--tool-arg", "code=return 6 * 7"];
      const { structuredContent } = await inspect(folder, [...target, ...call]);
      assert.deepEqual([structuredContent?.state, structuredContent?.value], ["completed", 42]);
    });
  }
});
