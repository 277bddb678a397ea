/**
 * Measures what analysis costs: per stage for an ordinary program, and in total for sources made to be slow. Prints
 * recall and precision too.
 */

import { readFileSync } from "node:fs";

import { readSyntax } from "../src/analysis/program-syntax.ts";
import { checkRules } from "../src/analysis/rules/check-rules.ts";
import { checkSize } from "../src/analysis/prepare/check-size.ts";
import { findCalls } from "../src/analysis/plan/find-calls.ts";
import { analyze, planCalls } from "../src/analysis/index.ts";
import { createLocator } from "../src/analysis/locate.ts";
import { readTree } from "../src/analysis/read-tree.ts";
import { stripTypes } from "../src/analysis/typescript/strip-types.ts";
import { DEFAULT_LIMITS } from "../src/domain/index.ts";
import type { ConnectorId, Namespace } from "../src/domain/index.ts";
import { PLANNED_PROGRAMS } from "../test/plans/planned-programs.ts";
import { listFuzzedSources, listHostileSources } from "./hostile-sources.ts";
import { ms, print } from "./measure.ts";
import { timebox } from "../src/sandbox/index.ts";

const NAMESPACES: readonly Namespace[] = ["tools", "github"].map((name) => ({
  name,
  connector: name as ConnectorId,
  summary: "",
  tools: ["echo", "listIssues", "getIssue"],
}));

/** Labels as in `test/plans/planned-programs.ts`. */
const PLANNED_NAMESPACES: readonly Namespace[] = Object.entries({
  github: ["closeIssue", "createIssue", "getIssue", "listIssues"],
  gitlab: ["createIssue", "listIssues"],
  mail: ["list", "send"],
}).map(([name, tools]) => ({ name, connector: name as ConnectorId, summary: "", tools }));

/** Mixtures of hostile sources; each run has new ones. */
const FUZZED = 300;

const TYPICAL = `interface Issue { id: number; title: string; labels: string[] }
const issues: Issue[] = await github.listIssues({ owner: "acme", repo: "app", state: "open" });
const byLabel = new Map<string, Issue[]>();
for (const issue of issues) {
  for (const label of issue.labels) byLabel.set(label, [...(byLabel.get(label) ?? []), issue]);
}
const bugs = byLabel.get("bug") ?? [];
const details = await Promise.all(bugs.slice(0, 10).map((bug) => github.getIssue({ id: bug.id })));
const summary = details.map((detail: any, index) => \`\${index + 1}. \${detail.title} (\${detail.comments ?? 0})\`);
console.log(\`\${issues.length} issues, \${bugs.length} bugs\`);
if (summary.length === 0) return "no bugs";
return { count: issues.length, bugs: summary.join("\\n") };
`;

const OPTIONS = {
  limits: DEFAULT_LIMITS,
  enabled: true,
  blockOnError: true,
  rules: {},
  timebox,
};

/** The median of many runs, in milliseconds of CPU time of this thread if there are enough runs. */
function middle(act: () => unknown): number {
  const times = Array.from({ length: 300 }, () => {
    const startedAt = performance.now();
    act();
    return performance.now() - startedAt;
  });
  return times.toSorted((a, b) => a - b)[150] ?? Number.NaN;
}

/** CPU time, because other processes may use the machine at the same time. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

export function benchAnalysis(): void {
  console.log("\nAnalysis");
  const { visits, tokens } = checkSize(TYPICAL, DEFAULT_LIMITS);
  const bounds = { visits, tokens, timebox: OPTIONS.timebox };
  const { root } = stripTypes(TYPICAL, bounds);
  const given = {
    source: TYPICAL,
    api: { namespaces: NAMESPACES },
    sourceBytes: DEFAULT_LIMITS.sourceBytes,
    toAuthor: (at: number) => at,
  };
  const subjectOf = () => readSyntax({ ...given, tree: readTree(root) });
  const locate = createLocator(TYPICAL);
  print("size and nesting", ms(middle(() => checkSize(TYPICAL, DEFAULT_LIMITS))));
  print("strip and parse", ms(middle(() => stripTypes(TYPICAL, bounds))));
  print("tree and scopes", ms(middle(subjectOf)));
  print("rules", ms(middle(() => checkRules(subjectOf(), OPTIONS, locate))), "with tree and scopes");
  print(
    "call plan",
    ms(middle(() => findCalls(subjectOf(), { namespaces: NAMESPACES, locate }))),
    "with tree and scopes",
  );
  print(
    "the whole analysis of an ordinary program",
    ms(middle(() => analyze(TYPICAL, { namespaces: NAMESPACES }, OPTIONS))),
  );
  benchDiagnoses();
  benchPlans();
  benchHostile("hostile sources", listHostileSources());
  benchHostile("mixtures of them", listFuzzedSources(FUZZED, Date.now() >>> 0));
}

interface Bad {
  readonly code: string;
  /** The expected error code; `null` for programs that only the sandbox can contain. */
  readonly refused: string | null;
}

/** An exact answer has the right code, the position in the source and a hint. */
function benchDiagnoses(): void {
  const corpus = new URL("../src/analysis/corpus.json", import.meta.url);
  const { bad } = JSON.parse(readFileSync(corpus, "utf8")) as { readonly bad: readonly Bad[] };
  const refusable = bad.filter(({ refused }) => refused !== null);
  const precise = refusable.filter(({ code, refused }) => {
    const analyzed = analyze(code, { namespaces: NAMESPACES }, OPTIONS);
    if (analyzed.ok || analyzed.error.code !== refused) return false;
    return analyzed.error.line !== undefined && analyzed.error.hint !== undefined;
  });
  print(
    "bad programs diagnosed precisely",
    `${precise.length} of ${refusable.length}`,
    "type mistakes are counted below",
  );
}

/** Compared with the labels. A test with generated programs checks that every real call is in the plan. */
function benchPlans(): void {
  let [right, named, labeled] = [0, 0, 0];
  for (const [source, reach] of PLANNED_PROGRAMS) {
    if (reach === "everything") continue;
    const analyzed = analyze(source, { namespaces: PLANNED_NAMESPACES }, { ...OPTIONS, blockOnError: false });
    const calls = analyzed.ok ? analyzed.program.calls : [];
    const planned = planCalls(calls, { namespaces: PLANNED_NAMESPACES, tools: new Map() }).calls.map(
      ({ tool }) => tool,
    );
    const labels = new Set(reach.split(" ").filter(Boolean));
    right += planned.filter((tool) => labels.has(tool)).length;
    named += planned.length;
    labeled += labels.size;
  }
  print(
    "call plan: precision / recall",
    `${(right / named).toFixed(2)} / ${(right / labeled).toFixed(2)}`,
    "aim: 0.90 / 1.00",
  );
}

function benchHostile(what: string, sources: readonly { readonly name: string; readonly source: string }[]): void {
  const times = sources.map(({ name, source }) => {
    const startedAt = cpuMs();
    analyze(source, { namespaces: NAMESPACES }, OPTIONS);
    return { name, cost: cpuMs() - startedAt };
  });
  const sorted = times.toSorted((a, b) => b.cost - a.cost);
  const p99 = sorted[Math.floor(sorted.length * 0.01)]?.cost ?? Number.NaN;
  print(`${sorted.length} ${what}: p99 of processor time`, ms(p99), "aim: 100 ms");
  print("the slowest of them", ms(sorted[0]?.cost ?? Number.NaN), JSON.stringify(sorted[0]?.name.slice(0, 40)));
}
