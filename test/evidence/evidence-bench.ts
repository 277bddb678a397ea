/** Runs a program with tools that read, echo and send, and finds the evidence about its first outgoing call. */

import { analyze, planCalls } from "../../src/analysis/index.ts";
import { DEFAULT_LIMITS, parseConnectorId, parseDigest, parseExecutionId } from "../../src/domain/index.ts";
import { parseJson, parsePrincipalId, parseToolAddress } from "../../src/domain/index.ts";
import type {
  CatalogSnapshot,
  EngineName,
  Json,
  Label,
  Namespace,
  Program,
  Reply,
  Tool,
  ToolAddress,
} from "../../src/domain/index.ts";
import type { ReplayEvidence } from "../../src/execution/evidence/compare-rounds.ts";
import { createEvidence } from "../../src/execution/evidence/find-evidence.ts";
import type { EvidenceDeps } from "../../src/execution/deps.ts";
import { recordDeliveries } from "../../src/execution/record-deliveries.ts";
import { openTestSandbox } from "../../src/sandbox/fixtures/test-sandbox.ts";
import type { Sandbox, SandboxJob } from "../../src/sandbox/index.ts";
import { digestOf } from "../../src/text/index.ts";

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("A test made a value that does not parse");
  return value;
}

const LABELS: Readonly<Record<string, readonly Label[]>> = {
  "mail.read": ["private"],
  "issues.list": ["untrusted"],
  "util.echo": [],
  "util.save": [],
  "util.load": [],
  "other.look": [],
  "out.send": ["external"],
};

const address = (text: string): ToolAddress => known(parseToolAddress(text));
const spaces = Map.groupBy(Object.keys(LABELS), (name) => name.slice(0, name.indexOf(".")));
const NAMESPACES: readonly Namespace[] = [...spaces].map(([name, tools]) => {
  const ownNames = tools.map((tool) => tool.slice(name.length + 1));
  return { name, connector: known(parseConnectorId(name)), summary: "", tools: ownNames };
});
const DIGEST = known(parseDigest(`sha256:${"0".repeat(64)}`));
const TOOLS = new Map(
  Object.entries(LABELS).map(([name, labels]) => {
    const tool = { address: address(name), effect: "write", digest: DIGEST, labels } as unknown as Tool;
    return [address(name), tool];
  }),
);
const SNAPSHOT = { tools: TOOLS, namespaces: NAMESPACES } as unknown as CatalogSnapshot;
const EXECUTION = known(parseExecutionId(`ex_${"0".repeat(24)}`));
const PRINCIPAL = known(parsePrincipalId("agent"));

export interface EvidenceRun {
  readonly code: string;
  readonly data: { readonly mail: Json; readonly issues: Json };
  readonly input?: Json;
  /** False without a call plan, as with analysis off. */
  readonly isPlanned?: boolean;
  readonly settings?: Partial<EvidenceDeps["settings"]>;
  readonly after?: EvidenceDeps["after"];
  /** Takes the place of the replay. */
  readonly run?: (job: SandboxJob, run: EvidenceDeps["run"]) => ReturnType<EvidenceDeps["run"]>;
}

export interface FoundEvidence {
  /** `undefined` if the program made no outgoing call. */
  readonly evidence: ReplayEvidence | undefined;
  /** The arguments of that call. */
  readonly args: Json | undefined;
  readonly replays: number;
  readonly ms: number;
}

const LIMITS = { ...DEFAULT_LIMITS, wallMs: 600_000, cpuMs: 300_000 };

/** One child runs programs, and another one their replays. */
export async function openEvidenceBench(engine: EngineName = "quickjs") {
  const { sandbox } = await openTestSandbox({ concurrency: 1 }, engine);
  const { sandbox: spare } = await openTestSandbox({ concurrency: 1 }, engine);
  return {
    find: (wanted: EvidenceRun): Promise<FoundEvidence> => findEvidence(wanted, { sandbox, spare }),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await spare.close();
    },
  };
}

function prepare({ code }: EvidenceRun): Program {
  const surface = { namespaces: NAMESPACES } as unknown as Parameters<typeof analyze>[1];
  const options = { limits: LIMITS, enabled: false, blockOnError: false, rules: {} } as unknown;
  const analyzed = analyze(code, surface, options as Parameters<typeof analyze>[2]);
  if (!analyzed.ok) throw new TypeError(`${analyzed.error.message}: ${code}`);
  return analyzed.program;
}

async function findEvidence(
  wanted: EvidenceRun,
  { sandbox, spare }: { readonly sandbox: Sandbox; readonly spare: Sandbox },
): Promise<FoundEvidence> {
  const { data, input = { to: "ada@example.com" }, isPlanned = true, settings, after, run } = wanted;
  const program = prepare(wanted);
  const calls: { seq: number; tool: string }[] = [];
  const record = recordDeliveries({ ...EMPTY_TAPE, start: { seed: [1, 2, 3, 4], atMs: 1_000 } });
  const found = {
    evidence: undefined as ReplayEvidence | undefined,
    args: undefined as Json | undefined,
    replays: 0,
    ms: 0,
  };
  const saved: Json[] = [];
  const usual: EvidenceDeps["run"] = (job) => spare.run(job);
  const job = { program, namespaces: NAMESPACES, limits: LIMITS, principal: PRINCIPAL, signal: NEVER, input };
  const deps: EvidenceDeps = {
    run: (one) => {
      found.replays += 1;
      return run ? run(one, usual) : usual(one);
    },
    prepare: () => undefined,
    settings: { evidenceMs: 600_000, evidenceRounds: 4, ...settings },
    seed: () => [12_345],
    after: after ?? (() => NEVER),
  };
  const plan = (): ReturnType<typeof planCalls> | undefined =>
    isPlanned ? planCalls(program.calls, SNAPSHOT, program.start) : undefined;
  const context = { job, taken: record.taken, calls: () => calls, snapshot: SNAPSHOT, plan, labels: () => [] };
  const find = createEvidence(deps, context);
  const reply = async (tool: string, args: Json, seq: number): Promise<Json> => {
    if (tool === "mail.read") return data.mail;
    if (tool === "issues.list") return data.issues;
    if (tool === "util.echo") return { text: digestOf(args) };
    if (tool === "util.save") return saved.push(args);
    if (tool === "util.load") return { count: saved.length, all: saved, last: saved.at(-1) ?? null };
    if (tool === "other.look") return { text: "a fixed text" };
    if (found.evidence) return null;
    found.args = args;
    const began = performance.now();
    found.evidence = await find({ execution: EXECUTION, seq, principal: PRINCIPAL, address: address(tool), args });
    found.ms = performance.now() - began;
    return null;
  };
  const call = async (rawAddress: unknown, rawArgs: unknown, seq: number): Promise<Reply> => {
    calls.push({ seq, tool: String(rawAddress) });
    const value = await reply(String(rawAddress), parseJson(String(rawArgs)) ?? null, seq);
    return { ok: true, json: JSON.stringify(value) };
  };
  await sandbox.run({ ...job, tape: record.tape, host: { call } });
  return found;
}

const NEVER = new AbortController().signal;
const EMPTY_TAPE = { past: [], began: () => undefined, repeat: () => undefined, keep: () => undefined };
