/**
 * `npm run soak:durable [-- PROGRAMS]`: runs generated programs, interrupted at every step in isolates, and in gateways
 * that are killed repeatedly. Exits with 1 if a program returns something else, repeats an effect, or is lost.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";

import { buildIfStale } from "../scripts/build.ts";

const PROGRAMS = String(Number(process.argv[2] ?? 2_000));

await buildIfStale();
const env = { ...process.env, DURABLE_PROGRAMS: PROGRAMS, DURABLE_KILLED: PROGRAMS };
const files = [
  "test/durable/interrupted-programs.test.ts",
  "test/durable/kills/first-half.test.ts",
  "test/durable/kills/second-half.test.ts",
];
const args = ["--test", "--test-concurrency=2", ...files];
const child = spawn(process.execPath, args, { env, stdio: "inherit" });
const [code] = (await once(child, "close")) as [number | null];
process.exitCode = code ?? 1;
