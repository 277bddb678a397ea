/** Gives executions what they need from the other rooms. */

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
import type { ExecutionDeps, createResults, openJournals } from "./execution/index.ts";
import { openQuotas, applyOperatorEffect, applyLabelRules } from "./policy/index.ts";
import type { Approvals, ClientApprovals, Flows, Policy } from "./policy/index.ts";
import { hasEnded, nameProcess } from "./processes/index.ts";
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
  readonly results: ReturnType<typeof createResults>;
  readonly approvals: Approvals;
  /** Absent when MCP clients may not answer approvals. */
  readonly clientApprovals?: ClientApprovals;
  readonly journals: ReturnType<typeof openJournals>;
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

/** The dependencies of executions. */
export function createRooms(
  parts: Parts,
  describe: Gateway["describe"],
): ExecutionDeps & Pick<ReturnType<typeof openQuotas>, "noteHeld"> {
  const { settings, store, ledger, catalog, policy, sandbox, checker, results, egress, approvals, journals } = parts;
  const { secrets, flows, isLasting, host } = parts;
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
  const quotas = openQuotas({ settings: settings.quotas, store: store.quotas, now: Date.now });
  return {
    log: createLog(parts),
    hide: host.mask.hide,
    admit: (request) => quotas.take({ kind: "execution", ...request }),
    noteHeld: () => quotas.noteHeld(),
    releaseQuota: (execution) => quotas.releaseLost(execution),
    engine,
    isolation,
    report: host.report,
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
    approvals,
    graceMs: settings.approvals.graceMs,
    journals,
    isLasting,
    owner: nameProcess(),
    hasEnded,
    store,
    ledger,
    results,
    limits: settings.sandbox.limits,
    now: Date.now,
    labelSession: (principal, sources) => flows.takeIn(principal, sources),
    sourcesOf: (execution) => flows.sourcesOf(execution),
  };
}

/** Opens and closes executions; traces, telemetry and token notices follow both. */
function createLog(parts: Parts): ExecutionDeps["log"] {
  const { store, ledger, journals, secrets, host, telemetry } = parts;
  const powers = { now: Date.now, createId: createExecutionId, createSeed, owner: nameProcess(), hide: host.mask.hide };
  return createExecutionLog({
    store,
    ledger,
    journals,
    ...powers,
    onOpened: (execution, trace) => telemetry.traces?.begin(execution, trace),
    beforeClose: (execution, result) => secrets.noticeIn(execution, result),
    onClosed: (execution, result) => telemetry.feed?.ended(execution, result),
  });
}

/** One bridge for each execution. */
function createBridgesOf(
  parts: Parts,
  describe: Gateway["describe"],
  { quotas, network }: { readonly quotas: ReturnType<typeof openQuotas>; readonly network: ProgramNetwork },
): ExecutionDeps["bridge"] {
  const { settings, results, flows, secrets, telemetry } = parts;
  const { mask, report } = parts.host;
  return createBridges<Parameters<ExecutionDeps["bridge"]>[2], Lending>({
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
