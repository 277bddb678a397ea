/** Hands each room of the corridor what it needs and nothing more. */

import { analyze, planCalls } from "./analysis/index.ts";
import type { Ledger } from "./audit/index.ts";
import { openBridge } from "./bridge/index.ts";
import { createSearch } from "./catalog/index.ts";
import type { Catalog, Shapes, ToolsWatch } from "./catalog/index.ts";
import { checkProgram } from "./checker/index.ts";
import type { Checker } from "./checker/index.ts";
import type { Settings } from "./config/index.ts";
import { createBuiltins, createGuide, createRecord, keepAttachments } from "./execution/index.ts";
import type { CorridorOptions, Results } from "./execution/index.ts";
import { openQuotas } from "./policy/index.ts";
import type { Policy } from "./policy/index.ts";
import { nameProcess } from "./processes/index.ts";
import type { Sandbox } from "./sandbox/index.ts";
import type { Store } from "./store/index.ts";
import type { Gateway } from "./surfaces/index.ts";
import { declareApi } from "./typegen/index.ts";
import { createExecutionId, reportIncident, timebox } from "./host-powers.ts";

/** The rooms of one gateway, once they are open. */
export interface Parts {
  readonly settings: Settings;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly policy: Policy;
  readonly sandbox: Sandbox;
  /** Absent when nothing is to be learned. */
  readonly shapes?: Shapes;
  readonly results: Results;
  readonly watch: ToolsWatch;
  readonly checker: Checker;
  close(): Promise<void>;
}

/** The corridor's rooms, each with what it needs and nothing more. */
export function createRooms(parts: Parts, describe: Gateway["describe"]): CorridorOptions["rooms"] {
  const { settings, store, ledger, catalog, policy, sandbox, checker, results, shapes } = parts;
  const { engine, isolation } = sandbox;
  const report = reportIncident;
  const counters = { store: store.quotas, now: Date.now, createLease: createExecutionId };
  const quotas = openQuotas({ settings: settings.quotas, ...counters });
  return {
    ...createRecord({ store, ledger, now: Date.now, createId: createExecutionId, owner: nameProcess() }),
    admit: (principal, wallMs) => quotas.take({ kind: "execution", principal, wallMs }),
    engine,
    isolation,
    report,
    snapshot: async (principal) => policy.view(await catalog.takeSnapshot(), principal),
    declare: declareApi,
    analyze: ({ source, limits, analysis = true }, surface) =>
      analyze(source, surface, {
        ...settings.analysis,
        enabled: settings.analysis.enabled && analysis,
        limits,
        timebox,
      }),
    check: (program, { analysis = true, types = true }, snapshot) =>
      checkProgram(program, declareApi(snapshot), {
        checker,
        guide: createGuide(snapshot),
        level: settings.analysis.enabled && analysis && types ? settings.analysis.types : "off",
        blocks: settings.analysis.blockOnError,
      }),
    keepValue: (owner, value) => results.keepValue(owner, value),
    bridge: ({ execution, opened }, snapshot, { principal, limits, program, analysis = true, onEvent }, signal) =>
      openBridge({
        ...(onEvent && { onEvent }),
        builtins: createBuiltins({
          search: async (request) => createSearch(snapshot)(request),
          describe: async (names, detail) => (await describe(principal, names, detail)).declarations,
          read: async (handle, query) => (await results.read(principal.id, handle, query)).value,
        }),
        execution: execution.id,
        opened,
        principal,
        snapshot,
        limits,
        signal,
        ledger,
        report,
        ...(program && settings.analysis.enabled && analysis && { plan: planCalls(program.calls, snapshot) }),
        take: (tool) => quotas.take({ kind: "call", principal, tool }),
        decide: (call, tool) => policy.decide({ call, tool, principal }),
        invoke: async (tool, args, options) => {
          const called = await catalog.connectorOf(tool).call(tool.origin.remoteName, args, options);
          shapes?.observe(tool, called.value);
          const owner = { principal: principal.id, execution: execution.id };
          return keepAttachments(called, limits.resultBytes, (file) => results.keepFile(owner, file));
        },
      }),
    run: (job) => sandbox.run(job),
  };
}
