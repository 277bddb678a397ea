/** Opens the bridge of each execution, with the builtins of its program. */

import { openBridge } from "../bridge/index.ts";
import type { Bridge, BridgeOptions, SkillPowers } from "../bridge/index.ts";
import type { Catalog, Shapes } from "../catalog/index.ts";
import { defined } from "../domain/index.ts";
import type {
  CallPlan,
  CatalogSnapshot,
  Decision,
  Execution,
  ExecutionId,
  Json,
  JsonObject,
  LabelSource,
  Limits,
  NetworkPolicy,
  Principal,
  PrincipalId,
  Program,
  ResultId,
  ResultQuery,
  SecretGrants,
  Tool,
  ToolCall,
  TraceContext,
} from "../domain/index.ts";
import type { GuestRequest } from "../egress/index.ts";
import { ownerOf, runInSlices } from "../timing/index.ts";
import type { RunSlice } from "../timing/index.ts";

import { createBuiltins } from "./create-builtins.ts";
import type { Describe } from "./create-describe.ts";
import type { DraftBuiltinPowers, ProposedSkill } from "./create-draft.ts";
import { createFetch } from "./create-fetch.ts";
import type { FetchPowers } from "./create-fetch.ts";
import type { ToolSearch } from "./create-tool-search.ts";
import type { ProgramNetwork } from "./program-network.ts";

/** What a bridge reads of a request; without a program it is a plain call of a tool. */
interface BridgeRequest extends Pick<BridgeOptions, "onEvent"> {
  readonly principal: Principal;
  readonly limits: Limits;
  readonly program?: Program;
  readonly analysis?: boolean;
  readonly dryRun?: boolean;
  readonly networkPolicy?: NetworkPolicy;
}

/** The secrets of one execution; `notice` records their tokens outside of requests. */
type TokenLender = NonNullable<GuestRequest["lender"]> & {
  notice(text: string, place: string, detail: { readonly tool: string }): Promise<void>;
};

/** Drafts of skills that programs propose. */
interface ProgramDrafts {
  fromProgram(
    skill: ProposedSkill,
    program: { readonly execution: ExecutionId; readonly labels: readonly string[] },
    by: Principal,
  ): ReturnType<DraftBuiltinPowers["draft"]>;
}

interface FileOwner {
  readonly principal: PrincipalId;
  readonly execution: ExecutionId;
  readonly labels: readonly LabelSource[];
}

export interface ProgramBridgesOptions extends Pick<BridgeOptions, "ledger" | "report" | "preview"> {
  /** Removes known secrets from the arguments that a dry run lists. */
  readonly hide: (text: string) => string;
  readonly catalog: { connectorOf(tool: Tool): Pick<ReturnType<Catalog["connectorOf"]>, "call" | "isLenient"> };
  readonly policy: {
    decide(request: { readonly call: ToolCall; readonly tool: Tool; readonly principal: Principal }): Decision;
  };
  readonly flows: {
    open(session: {
      readonly principal: Principal;
      readonly execution: ExecutionId;
      readonly snapshot: CatalogSnapshot;
      readonly plan?: CallPlan;
    }): NonNullable<BridgeOptions["flow"]>;
    takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
  };
  readonly quotas: {
    takeCall(principal: Principal, tool: Tool): Promise<void> | undefined;
  };
  /** Absent when nothing is to be learned. */
  readonly shapes?: Pick<Shapes, "observe"> | undefined;
  /** Absent when nothing is traced. */
  readonly traces?: { contextOf(execution: ExecutionId, seq: number): TraceContext | undefined } | undefined;
  readonly results: {
    keepFile(owner: FileOwner, file: { readonly mimeType: string; readonly body: Uint8Array }): Promise<ResultId>;
    summarize(principal: PrincipalId, handle: unknown): Promise<{ readonly labels: readonly LabelSource[] }>;
    read(
      principal: PrincipalId,
      handle: unknown,
      query: ResultQuery,
      spend: RunSlice,
    ): Promise<{ readonly value: Json }>;
  };
  readonly network: ProgramNetwork;
  readonly secrets: {
    /** `undefined` where none is granted. */
    open(execution: Execution): TokenLender | undefined;
    openFor(execution: Execution, granted: SecretGrants): TokenLender | undefined;
    guard(send: FetchPowers["send"], granted?: SecretGrants): FetchPowers["send"];
  };
  /** Finds the calls of a program; `undefined` where the analysis is off. */
  readonly planCalls: (request: BridgeRequest, snapshot: CatalogSnapshot) => CallPlan | undefined;
  readonly search: ToolSearch;
  readonly describe: Describe;
  readonly skills: { readonly door: { readonly drafts: ProgramDrafts } };
  /** Applies the operator's effects and labels to a tool of Glovebox itself. */
  readonly stateTool: NonNullable<FetchPowers["state"]>;
}

/** `opened` resolves once the opening of the execution is as durable as a read needs. */
export function createProgramBridges(
  options: ProgramBridgesOptions,
): (
  opening: { readonly execution: Execution; readonly opened: Promise<unknown> },
  snapshot: CatalogSnapshot,
  request: BridgeRequest,
  run: Pick<
    BridgeOptions,
    "signal" | "approve" | "askInput" | "asked" | "callSkill" | "journal" | "onCalls" | "whenChecked"
  >,
) => Bridge {
  const { ledger, report, preview, hide, catalog, policy, flows, quotas, shapes, traces, results } = options;
  return ({ execution, opened }, snapshot, request, run) => {
    const { principal, limits, dryRun = false, onEvent } = request;
    const { id } = execution;
    const lending = options.secrets.open(execution);
    const plan = options.planCalls(request, snapshot);
    const flow = flows.open({ principal, execution: id, snapshot, ...defined({ plan }) });
    return openBridge({
      ...run,
      execution: id,
      opened: () => opened,
      principal,
      snapshot,
      limits,
      ledger,
      report,
      flow,
      ...defined({
        preview,
        plan,
        dryRun: dryRun ? { hide } : undefined,
        onEvent,
        noticeTokens: lending && ((args: string, tool: string) => lending.notice(args, "argument", { tool })),
        learn: shapes && ((tool: Tool, args: JsonObject, value: Json) => shapes.observe(principal, tool, args, value)),
        traceOf: traces && ((seq: number) => traces.contextOf(id, seq)),
      }),
      builtins: createProgramBuiltins(options, { request, snapshot, lending, flow, id }),
      openPowers: (powers) => openSkillPowers(options, { request, execution, powers }),
      decide: (call, tool) => policy.decide({ call, tool, principal }),
      take: (tool) => quotas.takeCall(principal, tool),
      isLenient: (tool) => tool.origin.kind === "upstream" && catalog.connectorOf(tool).isLenient === true,
      invoke: (tool, args, how) => catalog.connectorOf(tool).call(tool.origin.remoteName, args, how),
      keepFile: (file, labels) => results.keepFile({ principal: principal.id, execution: id, labels }, file),
    });
  };
}

interface SkillReach {
  readonly request: BridgeRequest;
  readonly execution: Execution;
  readonly powers: SkillPowers;
}

/** A skill has `fetch` for the hosts that it was granted, and no other builtin. */
function openSkillPowers(
  { network, secrets, stateTool }: ProgramBridgesOptions,
  { request, execution, powers }: SkillReach,
): NonNullable<BridgeOptions["builtins"]> {
  const own = { ...request, granted: powers.network };
  const send = network.sendFor(own, secrets.openFor(execution, powers.secrets));
  const check = network.checkFor(own);
  const builtin = createFetch({ send: secrets.guard(send, powers.secrets), check, state: stateTool });
  return new Map([[builtin.tool.address, builtin]]);
}

interface ProgramContext {
  readonly request: BridgeRequest;
  readonly snapshot: CatalogSnapshot;
  readonly lending: TokenLender | undefined;
  readonly flow: NonNullable<BridgeOptions["flow"]>;
  readonly id: ExecutionId;
}

function createProgramBuiltins(
  { network, secrets, results, flows, search, describe, skills, stateTool }: ProgramBridgesOptions,
  { request, snapshot, lending, flow, id }: ProgramContext,
): NonNullable<BridgeOptions["builtins"]> {
  const { principal } = request;
  return createBuiltins({
    search: async (query, spend) => {
      // The index is everyone's: no program pays for it.
      await runInSlices(search.prepare(snapshot, query), ownerOf(principal));
      return spend(() => search(principal, snapshot, query));
    },
    describe: async (names, detail, spend) => (await describe(principal, names, detail, { spend })).declarations,
    read: async (handle, query, spend) => {
      // Labels come first: an error names fields of the kept result, too.
      await flows.takeIn(principal, (await results.summarize(principal.id, handle)).labels);
      return (await results.read(principal.id, handle, query, spend)).value;
    },
    draft: (skill) => {
      const labels = [...new Set(flow.sources().map(({ label }) => label))];
      return skills.door.drafts.fromProgram(skill, { execution: id, labels }, principal);
    },
    send: secrets.guard(network.sendFor(request, lending)),
    check: network.checkFor(request),
    state: stateTool,
  });
}
