/**
 * `npm run soak:durable [-- PROGRAMS]`: generated programs, interrupted at every step and brought back, in isolates and in
 * whole gateways. Exits 1 when one of them comes to something else, or does something twice.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";

import { buildIfStale } from "../scripts/build.ts";

const PROGRAMS = Number(process.argv[2] ?? 2_000);
/** Each crash is a gateway with ten programs of its own. */
const PROGRAMS_PER_CRASH = 20;

await buildIfStale();
const env = {
  ...process.env,
  DURABLE_PROGRAMS: String(PROGRAMS),
  DURABLE_CRASHES: String(Math.ceil(PROGRAMS / PROGRAMS_PER_CRASH)),
};
const args = ["--test", "--test-concurrency=1", "test/durable/tape.test.ts", "test/durable/crash.test.ts"];
const child = spawn(process.execPath, args, { env, stdio: "inherit" });
const [code] = (await once(child, "close")) as [number | null];
process.exitCode = code ?? 1;
