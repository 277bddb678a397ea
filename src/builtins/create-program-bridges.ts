/** Opens the bridge of each execution with the builtins of its program. */

import { createBridges } from "../bridge/index.ts";
import { createSearch } from "../catalog/index.ts";
import type { Json, LabelSource, Principal, PrincipalId, ResultQuery } from "../domain/index.ts";
import type { GuestRequest } from "../egress/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";

import { createBuiltins } from "./create-builtins.ts";
import type { FetchPowers } from "./create-fetch.ts";
import type { ProgramNetwork } from "./program-network.ts";

type BridgesParts<Request extends ProgramRequestParts, Lending extends Lender> = Parameters<
  typeof createBridges<Request, Lending>
>[0];
type ProgramRequestParts = Parameters<ProgramNetwork["sendFor"]>[0] & AnyBridgeRequest;
type AnyBridgeRequest = Parameters<Parameters<typeof createBridges>[0]["planCalls"]>[0];
type Lender = NonNullable<ReturnType<Parameters<typeof createBridges>[0]["lend"]>> &
  NonNullable<GuestRequest["lender"]>;

export interface ProgramBridgesOptions<Request extends ProgramRequestParts, Lending extends Lender> extends Omit<
  BridgesParts<Request, Lending>,
  "createBuiltins" | "lend"
> {
  readonly network: ProgramNetwork;
  readonly secrets: {
    open(execution: Parameters<BridgesParts<Request, Lending>["lend"]>[0]): Lending | undefined;
    guard(send: FetchPowers["send"]): FetchPowers["send"];
  };
  readonly results: BridgesParts<Request, Lending>["results"] & {
    summarize(principal: PrincipalId, handle: unknown): Promise<{ readonly labels: readonly LabelSource[] }>;
    read(principal: PrincipalId, handle: unknown, query: ResultQuery): Promise<{ readonly value: Json }>;
  };
  readonly flows: BridgesParts<Request, Lending>["flows"] & {
    takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
  };
  readonly describe: (
    principal: Principal,
    names: readonly string[],
    detail: DescribeDetail,
  ) => Promise<{ readonly declarations: string }>;
  /** Applies the operator's effects and labels to a tool of Glovebox itself. */
  readonly stateTool: NonNullable<FetchPowers["state"]>;
}

export function createProgramBridges<Request extends ProgramRequestParts, Lending extends Lender>(
  options: ProgramBridgesOptions<Request, Lending>,
): ReturnType<typeof createBridges<Request, Lending>> {
  const { network, secrets, results, flows, describe, stateTool } = options;
  return createBridges<Request, Lending>({
    ...options,
    lend: (execution) => secrets.open(execution),
    createBuiltins: ({ request, snapshot, lending }) =>
      createBuiltins({
        search: async (query) => createSearch(snapshot)(query),
        describe: async (names, detail) => (await describe(request.principal, names, detail)).declarations,
        read: async (handle, query) => {
          const { principal } = request;
          // Labels come first: an error names fields of the kept result, too.
          await flows.takeIn(principal, (await results.summarize(principal.id, handle)).labels);
          return (await results.read(principal.id, handle, query)).value;
        },
        send: secrets.guard(network.sendFor(request, lending)),
        check: network.checkFor(request),
        state: stateTool,
      }),
  });
}
