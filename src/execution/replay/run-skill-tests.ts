/**
 * Runs the tests of skills: a program gets recorded answers instead of tools, on each engine, in a sandbox of its own.
 * Clock and random numbers are those of the test, so a program whose output differs between engines fails on one.
 */

import { analyze } from "../../analysis/index.ts";
import type { AnalysisOptions } from "../../analysis/index.ts";
import { canonicalJson, parseJson, parsePrincipalId } from "../../domain/index.ts";
import type { ChildKeeper, EngineName, Json, Limits, Namespace, Program, PublicError } from "../../domain/index.ts";
import { confineEngine, createEngine, openSandbox } from "../../sandbox/index.ts";
import type { ImprovisedAnswer, Sandbox, SandboxJob, SandboxResult, TapeStart } from "../../sandbox/index.ts";
import { cleanText } from "../../text/index.ts";

/** A recorded execution: with these answers, the input gives this output. */
export interface RecordedTest {
  readonly file: string;
  readonly input: Json;
  readonly calls: readonly { readonly tool: string; readonly args: Json; readonly result: Json }[];
  readonly output: Json;
  readonly start?: TapeStart | undefined;
}

export interface SkillTests {
  readonly source: string;
  readonly namespaces: readonly Namespace[];
  readonly tests: readonly RecordedTest[];
  readonly network?: boolean;
  /** The names of its secrets. */
  readonly secrets?: readonly string[];
}

export interface TestOutcome {
  readonly file: string;
  readonly engine: EngineName;
  /** What differs from the recording; absent for a test that passes. */
  readonly problem?: string;
}

export interface TestRunnerOptions {
  readonly node: string;
  readonly openKeeper: () => ChildKeeper & AsyncDisposable;
  readonly sandbox: { readonly isolation: Parameters<typeof confineEngine>[1]; readonly limits: Limits };
  readonly analysis: Omit<AnalysisOptions, "limits" | "timebox">;
  readonly timebox: NonNullable<AnalysisOptions["timebox"]>;
}

const ENGINES = ["quickjs", "isolate"] as const satisfies readonly EngineName[];
/** For one test. */
const TEST_MS = 10_000;
const START: TapeStart = { seed: [1, 2, 3, 4], atMs: Date.UTC(2025, 0, 1) };
const SHOWN_CHARS = 300;

export type RunSkillTests = (job: SkillTests) => Promise<readonly TestOutcome[]>;

/** Opens a sandbox for each engine and closes it again. Rejects if one cannot be opened. */
export function createTestRunner(options: TestRunnerOptions): RunSkillTests {
  return async (job) => {
    if (job.tests.length === 0) return [];
    await using keeper = options.openKeeper();
    const outcomes = await Promise.all(ENGINES.map((engine) => runOnEngine(job, engine, { ...options, keeper })));
    return outcomes.flat();
  };
}

async function runOnEngine(
  { source, namespaces, tests, network = false, secrets = [] }: SkillTests,
  name: EngineName,
  { node, keeper, sandbox: settings, analysis, timebox }: TestRunnerOptions & { readonly keeper: ChildKeeper },
): Promise<readonly TestOutcome[]> {
  const limits = { ...settings.limits, wallMs: TEST_MS, cpuMs: Math.min(settings.limits.cpuMs, TEST_MS) };
  const analyzed = analyze(source, { namespaces }, { ...analysis, limits, timebox });
  if (!analyzed.ok) return tests.map(({ file }) => ({ file, engine: name, problem: describe(analyzed.error) }));
  const engine = await confineEngine(createEngine(name, node), settings.isolation);
  const children = { engine, keeper, concurrency: 1, queue: 1, limits, now: () => START.atMs, seed: () => START.seed };
  await using sandbox = openSandbox(children);
  const outcomes: TestOutcome[] = [];
  for (const test of tests) {
    const reach = network ? { network, secrets: Object.fromEntries(secrets.map((one) => [one, `secret:${one}`])) } : {};
    const problem = await runTest(test, { program: analyzed.program, namespaces, limits, sandbox, ...reach });
    outcomes.push({ file: test.file, engine: name, ...(problem === undefined ? {} : { problem }) });
  }
  return outcomes;
}

interface TestedProgram extends Pick<SandboxJob, "namespaces" | "limits" | "network" | "secrets"> {
  readonly program: Program;
  readonly sandbox: Sandbox;
}

async function runTest(test: RecordedTest, { sandbox, ...job }: TestedProgram): Promise<string | undefined> {
  const answers = createAnswers(test);
  const { start = START, input, output } = test;
  const ran = await sandbox.run({
    ...job,
    input,
    principal: tester(),
    signal: new AbortController().signal,
    host: { call: () => Promise.reject(new TypeError("A test answers every call from its recording")) },
    tape: {
      start,
      past: [],
      began: () => undefined,
      keep: () => undefined,
      repeat: (id, text) => answers.expect(id, text),
      improvise: (kind, id, wanted, shownMs) => {
        const nowMs = Math.max(shownMs, start.atMs);
        return kind === "call" ? answers.reply(id, nowMs) : tick(id, Number(wanted) || 0, nowMs);
      },
    },
  });
  return answers.problem() ?? compareEnding(ran, output) ?? answers.missing();
}

/** A timer fires when nothing else is left to do: no test waits for real time. */
function tick(id: number, wanted: number, nowMs: number): ImprovisedAnswer {
  return { delivery: { kind: "tick", id, atMs: nowMs + Math.max(0, wanted), text: "" }, turn: Infinity };
}

/** Each recorded call answers one call with the same arguments, in the order of the recording. */
function createAnswers({ calls }: RecordedTest) {
  const left = calls.map((call) => ({ ...call, key: `${call.tool} ${canonicalJson(call.args)}` }));
  const made = new Map<number, string>();
  let problem: string | undefined;
  return {
    expect(id: number, text: string): void {
      const cut = text.indexOf("\n");
      made.set(id, `${text.slice(0, cut)} ${canonicalJson(parseJson(text.slice(cut + 1)) ?? {})}`);
    },
    reply(id: number, atMs: number): ImprovisedAnswer {
      const key = made.get(id) ?? "";
      const found = left.findIndex((call) => call.key === key);
      const [call] = found < 0 ? [] : left.splice(found, 1);
      if (!call) problem ??= `it calls ${capShown(key)}, which the test does not answer`;
      const failure = { code: "TOOL_NOT_FOUND", message: "The test has no answer to this call", retry: false };
      const answer = call ? { kind: "reply" as const, text: JSON.stringify(call.result) } : undefined;
      const delivery = answer ?? { kind: "failure" as const, text: JSON.stringify(failure) };
      return { delivery: { ...delivery, id, atMs }, turn: Infinity };
    },
    problem: () => problem,
    missing: () => (left[0] ? `it does not call ${capShown(left[0].key)}` : undefined),
  };
}

function compareEnding({ ending }: SandboxResult, output: Json): string | undefined {
  switch (ending.kind) {
    case "returned": {
      const [wanted, is] = [canonicalJson(output), canonicalJson(ending.value ?? null)];
      return wanted === is ? undefined : `it returns ${capShown(is)} instead of ${capShown(wanted)}`;
    }
    case "threw":
      return `it throws ${capShown(ending.thrown.message)}`;
    case "failed":
      return `it fails: ${capShown(ending.error.message)}`;
    case "cancelled":
    case "paused":
      return "it does not end";
    default:
      return ending satisfies never;
  }
}

function capShown(text: string): string {
  const clean = cleanText(text, { maxBytes: SHOWN_CHARS * 4 });
  return clean.length <= SHOWN_CHARS ? clean : `${clean.slice(0, SHOWN_CHARS).toWellFormed()}…`;
}

function describe({ message }: PublicError): string {
  return `it does not compile: ${capShown(message)}`;
}

function tester(): SandboxJob["principal"] {
  const id = parsePrincipalId("system:skill-tests");
  if (id === undefined) throw new TypeError("The principal of tests is malformed");
  return id;
}
