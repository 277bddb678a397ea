/** `run --engine`: what the gateway is opened with. */

import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";

import { parseSettings } from "../../config/index.ts";
import { GloveboxError, parsePrincipalId } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import { runCli } from "./run-cli.ts";

/** The engine that the gateway is asked for, and the exit code; opening itself fails, which ends the command. */
async function run(...flags: readonly string[]): Promise<readonly [string | undefined, number]> {
  let engine: string | undefined;
  const terminal = {
    stdin: Readable.from(["return 1"]),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    cwd: "/",
    platform: "linux" as const,
    start: ["node", "glovebox.js"] as const,
    onInterrupt: () => () => undefined,
  };
  const id = parsePrincipalId("operator");
  assert.ok(id);
  const principal: Principal = { id, kind: "person", roles: ["operator"], groups: [] };
  const powers = {
    version: "0",
    nodeVersion: "24",
    terminal,
    packageFolder: "/",
    loadSettings: async () => parseSettings({}, { folder: "/" }, {}),
    readSettings: () => Promise.reject(new TypeError("not needed")),
    readWithoutPolicy: () => Promise.reject(new TypeError("not needed")),
    giveConsent: () => Promise.reject(new TypeError("not needed")),
    openGateway: async (settings: { readonly sandbox: { readonly engine: string } }) => {
      engine = settings.sandbox.engine;
      throw new GloveboxError("SANDBOX_UNAVAILABLE", "as far as this goes");
    },
    now: () => 0,
    openRecords: () => Promise.reject(new TypeError("not needed")),
    readRecords: () => Promise.reject(new TypeError("not needed")),
    openBrowser: () => undefined,
    parseObject: () => parseSettings({}, { folder: "/" }, {}),
    openHome: () => {
      throw new TypeError("not needed");
    },
    loadServers: () => Promise.reject(new TypeError("not needed")),
    showReplay: () => Promise.reject(new TypeError("not needed")),
    toRecordingFile: () => ({}),
    report: () => "in_1",
    uid: undefined,
    warn: () => {},
  };
  const code = await runCli(["run", ...flags, "-"], { powers, principal, agent: principal });
  return [engine, code];
}

test("run uses the engine of the settings by default", async () => assert.deepEqual(await run(), ["auto", 1]));

test("run --engine replaces the engine of the settings", async () => {
  assert.deepEqual(await run("--engine", "quickjs"), ["quickjs", 1]);
  assert.deepEqual(await run("--engine", "workerd"), ["workerd", 1]);
  assert.deepEqual(await run("--engine", "isolate"), ["isolate", 1]);
});

test("run refuses an unknown engine with exit 2 and opens nothing", async () => {
  assert.deepEqual(await run("--engine", "eval"), [undefined, 2]);
});
