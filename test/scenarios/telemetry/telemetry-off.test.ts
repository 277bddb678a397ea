/** Modules of disabled telemetry are not loaded; only the room's door and its opening function are. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const OPEN = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
  const { createGlovebox } = await import("./src/main.ts");
  const glovebox = await createGlovebox({ store: { url: "sqlite::memory:" }, ...JSON.parse(process.argv[1]) });
  await glovebox.execute({ code: "return 1" });
  await glovebox.close();
  const folders = loaded.flatMap((url) => /[/]src[/]telemetry[/]([a-z]+)[/]/.exec(url)?.[1] ?? []);
  const files = loaded.flatMap((url) => /[/]src[/]telemetry[/]([a-z-]+[.]ts)$/.exec(url)?.[1] ?? []);
  const isOn = files.some((file) => !["index.ts", "open-telemetry.ts"].includes(file));
  console.log(JSON.stringify([isOn, [...new Set(folders)].sort()]));
  process.exit();
`;

async function listLoaded(config: object): Promise<unknown> {
  const args = ["--input-type=module", "--eval", OPEN, JSON.stringify(config)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

test("telemetry modules are not loaded when telemetry is off", async () => {
  assert.deepEqual(await listLoaded({}), [false, []]);
});

test("only the telemetry modules that are on are loaded", async () => {
  assert.deepEqual(await listLoaded({ metrics: { enabled: true } }), [true, ["metrics"]]);
  assert.deepEqual(await listLoaded({ traces: { enabled: true, endpoint: "http://127.0.0.1:9" } }), [true, ["traces"]]);
  assert.deepEqual(await listLoaded({ anomalies: { enabled: true } }), [true, ["anomalies"]]);
});
