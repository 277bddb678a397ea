/**
 * Kills a gateway under load at a random moment, starts another one on its store, and says what is wrong afterwards: an
 * acknowledged execution or call without its records, a call that nobody wrote down, an execution without an end, a
 * ledger that does not verify.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { createSigner, openReader } from "../../src/audit/index.ts";
import type { Json } from "../../src/domain/index.ts";
import { openStore } from "../../src/store/index.ts";
import { LAUNCHER, cleanEnvironment, parseJsonLines, probe } from "./product.ts";

/** A place where gateways are killed one after the other. */
export interface KillPlace {
  /** One gateway, on what the last one left: what does not verify after its death, and how much it acknowledged. */
  round(killAfterMs: number): Promise<{ readonly wrong: readonly string[]; readonly acknowledged: number }>;
  /** Starts a last gateway that ends well, and says what all of them together have lost. */
  finish(): Promise<readonly string[]>;
  remove(): void;
}

const PROGRAM = `for (let n = 0; n < 5; n += 1) await probe.echo({ n });
await probe.change({}); await probe.change({}); return 1`;
const PROGRAMS = 5_000;
/** After the first answer. */
const START_MS = 20_000;
/** For everything that was left to come to its end. */
const END_MS = 120_000;

export function openKillPlace(): KillPlace {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-kill-"));
  const logs = { changes: join(folder, "changes.log"), reads: join(folder, "reads.log") };
  const server = probe("--log", logs.changes, "--reads", logs.reads);
  const config = { mcpServers: { probe: server }, store: { url: "sqlite:ledger.db" } };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  const batch = Array.from({ length: PROGRAMS }, (_, id) => JSON.stringify({ id: String(id), code: PROGRAM }));
  writeFileSync(join(folder, "batch.jsonl"), batch.join("\n"));
  const acknowledged: Record<string, unknown>[] = [];
  return {
    async round(killAfterMs) {
      const fresh = await runAndKill(folder, killAfterMs);
      acknowledged.push(...fresh);
      return { wrong: await judge(folder), acknowledged: fresh.length };
    },
    async finish() {
      await restart(folder);
      return findWrong(folder, acknowledged, logs);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

type Acknowledged = readonly Record<string, unknown>[];

/** Every line that came out whole is an answer that a client has. */
async function runAndKill(folder: string, killAfterMs: number): Promise<Acknowledged> {
  const args = [LAUNCHER, "run", "--batch", "batch.jsonl", "--parallel", "4"];
  const child = spawn(process.execPath, args, { cwd: folder, env: cleanEnvironment(folder) });
  let printed = "";
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const begun = new Promise<void>((resolve) =>
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      resolve();
    }),
  );
  await Promise.race([begun, wait(START_MS), ended]);
  await Promise.race([wait(killAfterMs), ended]);
  child.kill("SIGKILL");
  await ended;
  const whole = printed.slice(0, printed.lastIndexOf("\n") + 1);
  return whole === "" ? [] : parseJsonLines(whole);
}

/** A gateway that stays goes on with what can go on, and ends the rest. It is asked to end when nothing is left. */
async function restart(folder: string): Promise<void> {
  const args = [LAUNCHER, "serve", "--port", "0", "--json"];
  const child = spawn(process.execPath, args, { cwd: folder, env: cleanEnvironment(folder), stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  {
    await using store = await openStore({ path: join(folder, "ledger.db"), now: Date.now });
    const deadline = performance.now() + END_MS;
    while ((await store.executions.listUnfinished()).length > 0 && performance.now() < deadline) await wait(50);
  }
  child.kill("SIGINT");
  await ended;
}

/** What `audit verify` says. */
async function judge(folder: string): Promise<readonly string[]> {
  await using store = await openStore({ path: join(folder, "ledger.db"), now: Date.now });
  const signer = createSigner(Buffer.from(readFileSync(join(folder, "ledger.key"), "utf8").trim(), "hex"));
  const reader = openReader({ store, signer, headFile: join(folder, "ledger.db.head"), now: Date.now });
  const verdict = await reader.verify();
  return verdict.ok ? [] : [`record ${verdict.seq}: ${verdict.problem}`];
}

/** Files with a line for each call that reached the server. */
interface Logs {
  readonly changes: string;
  readonly reads: string;
}

async function findWrong(folder: string, acknowledged: Acknowledged, logs: Logs): Promise<readonly string[]> {
  await using store = await openStore({ path: join(folder, "ledger.db"), now: Date.now });
  const seen = new Set<string>();
  const closedTwice: string[] = [];
  /** Each is one change, however often it was begun: done twice, it has two lines in the log. */
  const changes = new Set<string>();
  /** A read may be made again, which is written down again. */
  let reads = 0;
  for await (const { action, subject, detail } of openReader({ store, now: Date.now }).records()) {
    const { execution, seq } = detail as { readonly execution?: string; readonly seq?: number };
    if (action === "execution.closed" && seen.has(`execution.closed ${textOf(subject)}`))
      closedTwice.push(textOf(subject));
    seen.add(
      execution === undefined ? `${textOf(action)} ${textOf(subject)}` : `${textOf(action)} ${execution} ${seq ?? 0}`,
    );
    if (action !== "call.intended") continue;
    if (subject === "probe.change") changes.add(`${execution} ${seq}`);
    else reads += 1;
  }
  const opened = [...seen].filter((name) => name.startsWith("execution.opened ")).map((name) => name.split(" ")[1]);
  const [done, read] = [countLines(logs.changes), countLines(logs.reads)];
  return [
    ...(await judge(folder)),
    ...acknowledged
      .flatMap(expectedOf)
      .filter((name) => !seen.has(name))
      .map((name) => `lost: ${name}`),
    ...opened.filter((id) => !seen.has(`execution.closed ${id}`)).map((id) => `no end in the ledger: ${id}`),
    ...closedTwice.map((id) => `two ends in the ledger: ${id}`),
    ...(await store.executions.listUnfinished()).map(({ id }) => `no end in the store: ${id}`),
    ...(done > changes.size ? [`${done} changes were made, and ${changes.size} were written down`] : []),
    ...(read > reads ? [`${read} reads were made, and ${reads} were written down`] : []),
  ];
}

function countLines(file: string): number {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The records that must be there once a client has this answer. */
function expectedOf({ execution, calls, state }: Record<string, unknown>): readonly string[] {
  const made = (calls as readonly { readonly seq: number }[]).flatMap(({ seq }) => [
    `call.intended ${String(execution)} ${seq}`,
    `call.ended ${String(execution)} ${seq}`,
  ]);
  const broken = state === "completed" ? [] : [`completed ${String(execution)}`];
  return [`execution.opened ${String(execution)}`, ...made, `execution.closed ${String(execution)}`, ...broken];
}
