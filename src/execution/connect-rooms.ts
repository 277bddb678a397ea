/** Connects executions with the rooms that they lead a request through. */

import { planCalls, rememberAnalyses } from "../analysis/index.ts";
import type { AnalysisResult, Timebox } from "../analysis/index.ts";
import type { NeededServers } from "../catalog/index.ts";
import { defined } from "../domain/index.ts";
import type { CatalogSnapshot, Execution, ExecutionResult, PrincipalId, Program } from "../domain/index.ts";
import type { ApiSurface, ExecutionId, LabelSource, Principal, SecretGrants, TraceContext } from "../domain/index.ts";
import type { Sandbox } from "../sandbox/index.ts";
import { ownerOf, runInSlices } from "../timing/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { declareApi, declareInSlices } from "../typegen/index.ts";

import type { EvidenceDeps, ExecutionDeps } from "./deps.ts";
import type { AdmitExecution, GrantRequest } from "./quotas.ts";
import { createExecutionLog } from "./execution-log.ts";
import type { ExecutionLogOptions } from "./execution-log.ts";

type CheckLevel = "error" | "warn" | "off";

/** What the type check is told besides the program. */
export interface TypeCheck {
  readonly surface: ApiSurface;
  readonly snapshot: CatalogSnapshot;
  readonly level: CheckLevel;
  readonly principal: Principal;
}

export interface ExecutionRooms
  extends
    Pick<
      ExecutionDeps,
      "approvals" | "bridge" | "graceMs" | "hasEnded" | "hide" | "isLasting" | "limits" | "maskPaths" | "report"
    >,
    Pick<ExecutionDeps, "results" | "skills">,
    Pick<ExecutionLogOptions, "createId" | "createSeed" | "durability" | "now" | "owner"> {
  readonly store: ExecutionLogOptions["store"] & ExecutionDeps["store"] & Pick<ExecutionDeps, "checkSpace">;
  readonly ledger: ExecutionDeps["ledger"];
  readonly journals: ExecutionLogOptions["journals"] & ExecutionDeps["journals"];
  readonly analysis: Omit<Parameters<typeof rememberAnalyses>[0], "timebox"> & {
    readonly enabled: boolean;
    readonly types: CheckLevel;
    readonly typeCheck: ExecutionDeps["typeCheck"];
  };
  readonly timebox: Timebox;
  readonly catalog: { takeSnapshot(needed?: NeededServers): Promise<CatalogSnapshot> };
  readonly policy: { view(snapshot: CatalogSnapshot, principal: Principal): CatalogSnapshot };
  readonly quotas: {
    take(request: GrantRequest & { readonly kind: "execution" }): ReturnType<AdmitExecution>;
    releaseLost(execution: ExecutionId): Promise<void>;
  };
  readonly flows: {
    takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
    sourcesOf(execution: ExecutionId): readonly LabelSource[];
  };
  readonly network: { has(request?: Pick<Parameters<ExecutionDeps["hasNetwork"]>[0], "networkPolicy">): boolean };
  readonly secrets: {
    grantsOf(principal: PrincipalId): SecretGrants;
    tokensOf(execution: Execution, granted?: SecretGrants): Readonly<Record<string, string>> | undefined;
    noticeIn(
      execution: Pick<Execution, "id" | "principal">,
      result: Partial<Pick<ExecutionResult, "value" | "logs" | "error">>,
    ): Promise<void>;
  };
  readonly telemetry: {
    readonly traces?: { begin(execution: ExecutionId, trace: TraceContext | undefined): void };
    readonly feed?: { ended(execution: Execution, result: ExecutionResult): void };
  };
  readonly identity: { resolve: ExecutionDeps["resolvePrincipal"] };
  readonly sandbox: Pick<Sandbox, "checkQueue" | "engine" | "isolation" | "run">;
  /** For replays, which take no place of a program; by default there are none. */
  readonly spare?: Pick<EvidenceDeps, "prepare" | "run"> & { readonly settings: EvidenceDeps["settings"] };
  readonly retention: { stored(bytes: number): void; ended(): void };
  check(program: Program, context: TypeCheck): AnalysisResult | Promise<AnalysisResult>;
}

const timeout = (ms: number): AbortSignal => AbortSignal.timeout(ms);

export function connectRooms(rooms: ExecutionRooms): ExecutionDeps {
  const { analysis, timebox, catalog, policy, quotas, flows, network, secrets, telemetry, sandbox, spare, results } =
    rooms;
  const analyze = rememberAnalyses({ ...analysis, timebox });
  const declareFor = ({ calls }: Program, snapshot: CatalogSnapshot, principal: PrincipalId): SlicedWork<ApiSurface> =>
    declareInSlices(snapshot, {
      hasNetwork: network.has(),
      secrets: secrets.grantsOf(principal),
      reached: () => planCalls(calls, snapshot).calls.map(({ tool }) => tool),
    });
  return {
    ...rooms,
    ...defined({ evidence: spare && { ...spare, seed: rooms.createSeed, after: timeout } }),
    engine: sandbox.engine,
    isolation: sandbox.isolation,
    log: createExecutionLog({
      ...rooms,
      onOpened: (execution, trace) => telemetry.traces?.begin(execution, trace),
      beforeClose: (execution, result) => secrets.noticeIn(execution, result),
      onStored: (bytes) => rooms.retention.stored(bytes),
      onClosed: (execution, result) => {
        rooms.retention.ended();
        telemetry.feed?.ended(execution, result);
      },
    }),
    resolvePrincipal: (id) => rooms.identity.resolve(id),
    checkSpace: () => rooms.store.checkSpace(),
    checkQueue: (coming, { id, session }) => sandbox.checkQueue(coming, { principal: id, ...defined({ session }) }),
    admit: (request) => quotas.take({ kind: "execution", ...request }),
    releaseQuota: (execution) => quotas.releaseLost(execution),
    snapshot: async (principal, needed) => {
      const view = policy.view(await catalog.takeSnapshot(needed), principal);
      for (const grants of [{}, { secrets: secrets.grantsOf(principal.id) }]) {
        const work = declareInSlices(view, { hasNetwork: network.has(), ...grants });
        if (work.next().done !== true) await runInSlices(work, ownerOf(principal));
      }
      return view;
    },
    declare: (snapshot) => declareApi(snapshot, { hasNetwork: network.has() }),
    hasNetwork: (request) => network.has(request),
    analyze: ({ source, limits, analysis: isWanted = true }, surface) =>
      analyze(source, surface, { enabled: analysis.enabled && isWanted, limits }),
    tokensOf: (execution, granted) => secrets.tokensOf(execution, granted),
    check(program, { analysis: isWanted = true, types = true, principal }, snapshot) {
      const level = analysis.enabled && isWanted && types ? analysis.types : "off";
      const check = (surface: ApiSurface) => rooms.check(program, { surface, snapshot, level, principal });
      const work = declareFor(program, snapshot, principal.id);
      const first = work.next();
      return first.done === true ? check(first.value) : runInSlices(work, ownerOf(principal)).then(check);
    },
    typeCheck: analysis.typeCheck,
    keepValue: async (owner, value) => {
      await secrets.noticeIn({ id: owner.execution, principal: owner.principal }, { value });
      return results.keepValue(owner, value);
    },
    run: (job) => sandbox.run(job),
    labelSession: (principal, sources) => flows.takeIn(principal, sources),
    sourcesOf: (execution) => flows.sourcesOf(execution),
  };
}
