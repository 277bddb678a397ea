/** Measures what 500 approved skills cost: a start of the gateway until tools are known, and searches. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { parseSettings } from "../src/config/index.ts";
import { defineAdapter } from "../src/connectors/index.ts";
import { LOCAL, OPERATOR } from "../src/identity/index.ts";
import { openGateway } from "../src/open-gateway.ts";
import { openOperatorRecords } from "../src/open-records.ts";
import { toTexts } from "../test/fixtures/skill-gateway.ts";
import { ms, print } from "./measure.ts";

const MANY = 500;
const TOOLS = 200;
const ROUNDS = 7;
const SEARCHES = 100;
const QUERIES = ["list orders", "stock of a product", "send an invoice", "report", "customers by country"];

/** Prints ratios, measured in turns, because machines are noisy. */
export async function benchSkills(): Promise<void> {
  console.log(`\nSkills (${TOOLS} tools of a server, in one process)`);
  const [none, many] = [createFolder(), createFolder()];
  try {
    await addSkills(many);
    const [without, beside] = [[], []] as [Sample[], Sample[]];
    for (let round = 0; round < ROUNDS; round += 1) {
      without.push(await measure(none));
      beside.push(await measure(many));
    }
    for (const what of ["start", "search"] as const) {
      const [base, more] = [without, beside].map((samples) => p95(samples.flatMap((sample) => sample[what])));
      const ratio = `${((more ?? 0) / (base ?? 1)).toFixed(2)} x none`;
      print(
        `${what} with ${MANY} skills / with none: p95 of processor time`,
        `${ms(more ?? 0)} / ${ms(base ?? 0)}`,
        ratio,
      );
    }
  } finally {
    for (const folder of [none, many]) rmSync(folder, { recursive: true, force: true });
  }
}

interface Sample {
  readonly start: readonly number[];
  readonly search: readonly number[];
}

function createFolder(): string {
  return mkdtempSync(join(tmpdir(), "glovebox-bench-skills-"));
}

function toSettings(folder: string) {
  const run = (): null => null;
  const tools = Array.from({ length: TOOLS }, (_, at) => {
    const description = `${QUERIES[at % QUERIES.length]} number ${at}`;
    return [`tool${at}`, { description, input: { type: "object" as const }, effect: "read" as const, run }] as const;
  });
  const adapters = [defineAdapter({ name: "shop", tools: Object.fromEntries(tools) })];
  const written = { adapters, analysis: { types: "off" }, store: { url: "sqlite:./glovebox.db" } };
  return parseSettings(written, { folder }, {});
}

async function addSkills(folder: string): Promise<void> {
  const settings = toSettings(folder);
  await using gateway = await openGateway(settings, { runsPrograms: false });
  await using records = await openOperatorRecords(settings);
  for (let at = 0; at < MANY; at += 1) {
    const name = `skill-${at}`;
    const description = `${QUERIES[at % QUERIES.length]} for team ${at}`;
    const source = { tools: [`shop.tool${at % TOOLS}`], run: `return await shop.tool${at % TOOLS}({})`, description };
    const files = Object.entries(toTexts(name, source));
    await gateway.skills.submit(new Map(files.map(([path, text]) => [path, Buffer.from(text)])), OPERATOR);
    await records.skills.approve({ name }, OPERATOR);
  }
}

async function measure(folder: string): Promise<Sample> {
  const settings = toSettings(folder);
  const began = cpuNow();
  await using gateway = await openGateway(settings, { runsPrograms: false });
  await gateway.search(LOCAL, { query: "warm" });
  const start = [cpuNow() - began];
  const search: number[] = [];
  for (let at = 0; at < SEARCHES; at += 1) {
    const from = cpuNow();
    await gateway.search(LOCAL, { query: `${QUERIES[at % QUERIES.length]} ${at}` });
    search.push(cpuNow() - from);
  }
  return { start, search };
}

/** Milliseconds of the processor. */
function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0;
}
