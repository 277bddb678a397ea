/**
 * Measures the type check: what it finds, whether it is ever wrong about an honest program, and its cost at 500 tools.
 */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openChecker } from "../src/checker/index.ts";
import { parseConnectorId, parseDigest, parseToolAddress } from "../src/domain/index.ts";
import type { CatalogSnapshot, JsonSchema, Tool } from "../src/domain/index.ts";
import { measureFamily } from "../src/processes/index.ts";
import { declareApi } from "../src/typegen/index.ts";
import { openReal, readHonest, readMistaken, runSample, wordsOf } from "../test/types/corpus.ts";
import { ms, print, time } from "./measure.ts";

const TOOLS = 500;

export async function benchTypes(): Promise<void> {
  console.log("\nType check");
  await benchCorpora();
  await benchCost();
}

async function benchCorpora(): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-bench-")));
  try {
    await using glovebox = await openReal(folder);
    const [honest, mistaken] = [readHonest(), readMistaken()];
    let alarms = 0;
    for (const sample of honest) {
      const { error } = await runSample(glovebox, sample, folder);
      if (error?.code === "PROGRAM_TYPES") alarms += 1;
    }
    let precise = 0;
    for (const sample of mistaken) {
      const result = await runSample(glovebox, sample, folder);
      const isRefused = result.error?.code === "PROGRAM_TYPES" && result.error.line === sample.line;
      if (isRefused && sample.expected.test(wordsOf(result))) precise += 1;
    }
    print("honest programs held back", `${alarms} of ${honest.length}`, "aim: 0");
    const share = ((100 * precise) / mistaken.length).toFixed(0);
    print("mistaken programs diagnosed precisely", `${precise} of ${mistaken.length}`, `${share} %, aim: 90 %`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchCost(): Promise<void> {
  const keeper = { keep: () => undefined, release: () => undefined };
  await using checker = openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily });
  const surface = declareApi(createSnapshot());
  const principal = { id: "bench" };
  let at = 0;
  const check = (): Promise<unknown> => checker.check({ text: createProgram((at += 1)), surface, principal });
  const startedAt = performance.now();
  await check();
  print(
    `first check, with ${TOOLS} tools`,
    ms(performance.now() - startedAt),
    `${surface.declarations.length} characters`,
  );
  await time(50, check);
  const warm = await time(300, check);
  print("warm check: p50 / p95", `${ms(warm.p50)} / ${ms(warm.p95)}`, "aim: 8 ms");
  const again = await time(300, () => checker.check({ text: createProgram(1 + at), surface, principal }));
  print("the same program again: p50", ms(again.p50), "");
  print(
    "memory of the process",
    `${((measureFamily(checker.stats().pid) ?? 0) / 1e6).toFixed(0)} MB`,
    "limit: 512 MiB",
  );
}

const INPUT: JsonSchema = {
  type: "object",
  properties: {
    owner: { type: "string", description: "Who owns it" },
    repo: { type: "string" },
    state: { enum: ["open", "closed", "all"] },
    labels: { type: "array", items: { type: "string" } },
    page: { type: "object", properties: { size: { type: "integer" }, after: { type: "string" } } },
  },
  required: ["owner", "repo"],
};
const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    items: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "integer" },
          title: { type: "string" },
          user: { type: "object", properties: { login: { type: "string" } } },
        },
        required: ["id", "title", "user"],
      },
    },
    total: { type: "integer" },
  },
  required: ["items", "total"],
};

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("A value of this file does not parse");
  return value;
}

function createSnapshot(): CatalogSnapshot {
  const connector = known(parseConnectorId("big"));
  const digest = known(parseDigest(`sha256:${"5".repeat(64)}`));
  const names = Array.from({ length: TOOLS }, (_, index) => `tool${index}`);
  const tools = names.map((name): Tool => {
    const summary = `What ${name} does, in the words that a server has for it`;
    const origin = { kind: "upstream", connector, remoteName: name } as const;
    const address = known(parseToolAddress(`big.${name}`));
    return { address, origin, summary, description: summary, input: INPUT, output: OUTPUT, effect: "read", digest };
  });
  const namespaces = [{ name: "big", connector, summary: "", tools: names }];
  return { digest, takenAt: 0, tools: new Map(tools.map((tool) => [tool.address, tool])), namespaces };
}

/** A different source each time, so that no cached answer is used. */
function createProgram(at: number): string {
  return `const page = await big.tool${at % TOOLS}({ owner: "o${at}", repo: "r", state: "open" });
const all = [];
for (const item of page.items) {
  if (item.title.match(/bug/i)) all.push({ id: item.id, who: item.user.login });
}
const more = await Promise.all(
  all.map(async (one) => (await big.tool${(at + 7) % TOOLS}({ owner: String(one.id), repo: "r", labels: ["a"] })).total),
);
const byUser = new Map();
for (const { who } of all) byUser.set(who, (byUser.get(who) ?? 0) + 1);
return { all, sum: more.reduce((a, b) => a + b, 0), byUser: Object.fromEntries(byUser) };
`;
}
