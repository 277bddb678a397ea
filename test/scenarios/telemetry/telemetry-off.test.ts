/** Modules of disabled telemetry are not loaded. */

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
  const folders = loaded.flatMap((url) => /[/]src[/]watching[/]([a-z]+)[/]/.exec(url)?.[1] ?? []);
  const whole = loaded.some((url) => url.includes("/src/watching/"));
  console.log(JSON.stringify([whole, [...new Set(folders)].sort()]));
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
