/** Hands each room of the executions what it needs and nothing more. */

import { planCalls, rememberAnalyses } from "./analysis/index.ts";
import { createPreview } from "./ledger/index.ts";
import type { Ledger } from "./ledger/index.ts";
import { createBridges } from "./bridge/index.ts";
import { createBuiltins, createGuide, createProgramNetwork } from "./builtins/index.ts";
import type { ProgramNetwork } from "./builtins/index.ts";
import { createSearch } from "./catalog/index.ts";
import type { Catalog, Shapes, ToolsWatch } from "./catalog/index.ts";
import { checkProgram } from "./checker/index.ts";
import type { Checker } from "./checker/index.ts";
import type { Settings } from "./config/index.ts";
import type { CatalogSnapshot, NetworkPolicy, PrincipalId, Program, Tool } from "./domain/index.ts";
import type { Egress } from "./egress/index.ts";
import { createExecutionLog } from "./execution/index.ts";
import type { ExecutionsOptions, ExecutionLog, Journals, Results } from "./execution/index.ts";
import { openQuotas, applyOperatorEffect, applyLabelRules } from "./policy/index.ts";
import type { Approvals, ClientApprovals, Flows, Policy } from "./policy/index.ts";
import { nameProcess } from "./processes/index.ts";
import { timebox } from "./sandbox/index.ts";
import type { Sandbox } from "./sandbox/index.ts";
import type { Store } from "./store/index.ts";
import type { Gateway } from "./surfaces/index.ts";
import { declareApi } from "./typegen/index.ts";
import { createExecutionId, createSeed } from "./host-powers.ts";
import type { HostPowers } from "./host-powers.ts";
import type { Telemetry } from "./telemetry/index.ts";
import type { Lending, ProgramSecrets } from "./vault/index.ts";

/** The rooms of one gateway, once they are open. */
export interface Parts {
  readonly settings: Settings;
  readonly host: HostPowers;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly policy: Policy;
  readonly sandbox: Sandbox;
  /** Absent when nothing is to be learned. */
  readonly shapes?: Shapes;
  readonly results: Results;
  readonly approvals: Approvals;
  /** Absent when MCP clients may not answer approvals. */
  readonly clientApprovals?: ClientApprovals;
  readonly journals: Journals;
  /** Whether this process goes on with what others left. */
  readonly isLasting: boolean;
  readonly flows: Flows;
  readonly watch: ToolsWatch;
  readonly checker: Checker;
  readonly egress: Egress;
  readonly secrets: ProgramSecrets;
  readonly telemetry: Pick<Telemetry, "feed" | "traces">;
  close(): Promise<void>;
}

/** The policies that hold for the requests of programs. */
export function networkOf({ sandbox, egress }: Settings): {
  policy: NetworkPolicy;
  ceiling: NetworkPolicy | undefined;
} {
  return { policy: sandbox.networkPolicy, ceiling: egress.networkPolicy };
}

/** The executions's rooms, each with what it needs and nothing more. */
export function createRooms(
  parts: Parts,
  describe: Gateway["describe"],
): ExecutionsOptions["rooms"] & Pick<ReturnType<typeof openQuotas>, "noteHeld"> {
  const { settings, store, ledger, catalog, policy, sandbox, checker, results, egress, approvals, journals } = parts;
  const { secrets } = parts;
  const { engine, isolation } = sandbox;
  const network = createProgramNetwork({ egress, ...networkOf(settings) });
  const declare = (snapshot: CatalogSnapshot) => declareApi(snapshot, { hasNetwork: network.has() });
  const declareFor = ({ calls }: Program, snapshot: CatalogSnapshot, principal: PrincipalId) =>
    declareApi(snapshot, {
      hasNetwork: network.has(),
      secrets: secrets.grantsOf(principal),
      reached: () => planCalls(calls, snapshot).calls.map(({ tool }) => tool),
    });
  const analyze = rememberAnalyses({ ...settings.analysis, timebox });
  const { report } = parts.host;
  const { hide } = parts.host.mask;
  const quotas = openQuotas({ settings: settings.quotas, store: store.quotas, now: Date.now });
  return {
    ...createWatchedRecord(parts),
    hide,
    admit: (request) => quotas.take({ kind: "execution", ...request }),
    noteHeld: () => quotas.noteHeld(),
    releaseQuota: (execution) => quotas.releaseLost(execution),
    engine,
    isolation,
    report,
    snapshot: async (principal) => policy.view(await catalog.takeSnapshot(), principal),
    declare,
    hasNetwork: (request) => network.has(request),
    analyze: ({ source, limits, analysis = true }, surface) =>
      analyze(source, surface, { enabled: settings.analysis.enabled && analysis, limits }),
    tokensOf: (execution) => secrets.tokensOf(execution),
    check: (program, { analysis = true, types = true, principal }, snapshot) =>
      checkProgram(program, declareFor(program, snapshot, principal.id), {
        checker,
        guide: createGuide(snapshot),
        level: settings.analysis.enabled && analysis && types ? settings.analysis.types : "off",
        blocks: settings.analysis.blockOnError,
      }),
    keepValue: async (owner, value) => {
      await secrets.noticeIn({ id: owner.execution, principal: owner.principal }, { value });
      return results.keepValue(owner, value);
    },
    bridge: createBridgesOf(parts, describe, { quotas, network }),
    run: (job) => sandbox.run(job),
    people: approvals,
    graceMs: settings.approvals.graceMs,
    journals,
    isLasting: parts.isLasting,
    owner: nameProcess(),
    ...createLateRecords(ledger),
  };
}

/** What whoever goes on with an execution writes down for a process that could not. */
function createLateRecords(
  ledger: Ledger,
): Pick<ExecutionsOptions["rooms"], "recordEnd" | "recordOpening" | "recordResumption"> {
  return {
    recordEnd: ({ id, principal }, { seq, tool, outcome, ms }) => {
      const detail = { execution: id, seq, outcome, ms, late: true };
      return ledger.write({ actor: principal, action: "call.ended", subject: tool, detail });
    },
    recordOpening: ({ id, principal, source }, { dryRun = false }) => {
      const detail = { source, ...(dryRun && { dryRun }), late: true };
      return ledger.write({ actor: principal, action: "execution.opened", subject: id, detail });
    },
    recordResumption: ({ id, principal }, why) =>
      ledger.write({ actor: principal, action: "execution.resumed", subject: id, detail: { why } }),
  };
}

/** The two ends of every execution, of which those who watch hear too. */
function createWatchedRecord({
  store,
  ledger,
  journals,
  secrets,
  host,
  telemetry: { feed, traces },
}: Parts): ExecutionLog {
  const powers = { now: Date.now, createId: createExecutionId, createSeed, owner: nameProcess(), hide: host.mask.hide };
  const record = createExecutionLog({ store, ledger, journals, ...powers });
  return {
    open: (request) => {
      const opening = record.open(request);
      traces?.begin(opening.execution.id, request.trace);
      return opening;
    },
    claim: async (request, key) => {
      const claimed = await record.claim(request, key);
      if ("opening" in claimed) traces?.begin(claimed.opening.execution.id, request.trace);
      return claimed;
    },
    close: async (execution, result) => {
      await secrets.noticeIn(execution, result);
      await record.close(execution, result);
      feed?.ended(execution, result);
    },
  };
}

/** One bridge for each execution. */
function createBridgesOf(
  parts: Parts,
  describe: Gateway["describe"],
  { quotas, network }: { readonly quotas: ReturnType<typeof openQuotas>; readonly network: ProgramNetwork },
): ExecutionsOptions["rooms"]["bridge"] {
  const { settings, results, flows, secrets, telemetry } = parts;
  const { mask, report } = parts.host;
  return createBridges<Parameters<ExecutionsOptions["rooms"]["bridge"]>[2], Lending>({
    ...parts,
    quotas,
    hide: mask.hide,
    report,
    traces: telemetry.traces,
    ...(settings.audit.previews && { preview: createPreview(mask.hide) }),
    lend: (execution) => secrets.open(execution),
    planCalls: ({ program, analysis = true }, snapshot) =>
      program && settings.analysis.enabled && analysis ? planCalls(program.calls, snapshot) : undefined,
    createBuiltins: ({ request, snapshot, lending }) =>
      createBuiltins({
        search: async (query) => createSearch(snapshot)(query),
        describe: async (names, detail) => (await describe(request.principal, names, detail)).declarations,
        read: async (handle, query) => {
          const { principal } = request;
          // First: an error names fields of what is kept, too.
          await flows.takeIn(principal, (await results.summarize(principal.id, handle)).labels);
          return (await results.read(principal.id, handle, query)).value;
        },
        send: secrets.guard(network.sendFor(request, lending)),
        check: network.checkFor(request),
        state: (tool) => stateTool(parts, tool),
      }),
  });
}

/** What the operator says about a tool of our own, as it holds for those of upstreams. */
function stateTool({ settings, policy }: Parts, tool: Tool): Tool {
  const labels = applyLabelRules(settings.policy.labels, tool.address, tool.labels ?? []);
  return { ...applyOperatorEffect(policy.current(), tool), labels };
}
