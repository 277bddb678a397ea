/** The command line with few file descriptors: a typed error with its remedy, and no stack trace. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { countLeastFiles } from "../../../src/sandbox/start-child.ts";
import { LAUNCHER, cleanEnvironment, makeFolder } from "../../fixtures/product.ts";

const PRLIMIT = "/usr/bin/prlimit";
const options = { skip: !existsSync(PRLIMIT) && "prlimit is not installed here" };
/** 64, unless this process inherited descriptors, which its children inherit too. */
const LEAST = countLeastFiles();
/** A descriptor above all others, and what the sandbox then needs. */
const INHERITED = LEAST + 40;
const LEAST_WITH_INHERITED = INHERITED + 16;

/** Runs a program while the process may open `most` files; `inherited` is a descriptor that it gets along. */
async function runWith(context: TestContext, most: number, inherited?: number): Promise<readonly unknown[]> {
  const folder = makeFolder(context, { mcpServers: {} });
  const args = [`--nofile=${most}:${most}`, "--", process.execPath, LAUNCHER, "run", "-"];
  const stdio: ("pipe" | "ignore")[] = ["pipe", "pipe", "pipe"];
  if (inherited !== undefined) stdio.push(...Array<"ignore">(inherited - stdio.length).fill("ignore"), "pipe");
  const child = spawn(PRLIMIT, args, { cwd: folder, env: cleanEnvironment(folder), stdio });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const { stdin, stdout, stderr } = child;
  assert.ok(stdin && stdout && stderr);
  stdin.end("return 6 * 7");
  const [printed, errors, code] = await Promise.all([text(stdout), text(stderr), ended]);
  return code === 0 ? [code, printed] : [code, printed, errors];
}

function refusal(most: number, least: number): readonly unknown[] {
  const message = `This process may open only ${most} files; the sandbox needs at least ${least}`;
  const hint = "Allow this process more open files: `ulimit -n 1024`";
  return [1, "", `error: ${message} [SANDBOX_UNAVAILABLE]\nhint: ${hint}\n`];
}

test("a program runs with just enough open files, and is refused with a remedy below", options, async (context) => {
  for (const most of [LEAST, LEAST + 1]) assert.deepEqual(await runWith(context, most), [0, "42\n"]);
  for (const most of [LEAST - 1, 30]) assert.deepEqual(await runWith(context, most), refusal(most, LEAST));
});

test("an inherited descriptor above the limit of open files is refused with a remedy", options, async (context) => {
  const most = INHERITED - 10;
  assert.deepEqual(await runWith(context, most, INHERITED), refusal(most, LEAST_WITH_INHERITED));
  assert.deepEqual(await runWith(context, LEAST_WITH_INHERITED, INHERITED), [0, "42\n"]);
});
