/** Answers what a name stands for: a tool, a whole server, or a kept result. */

import { findNearest } from "../catalog/index.ts";
import { parseResultId } from "../domain/index.ts";
import type {
  CatalogSnapshot,
  ConnectorId,
  LabelSource,
  Principal,
  PrincipalId,
  SecretGrants,
  UpstreamStatus,
} from "../domain/index.ts";
import { describeTools } from "../typegen/index.ts";
import type { Description, Detail } from "../typegen/index.ts";

import { describeResult } from "./results/describe-result.ts";
import type { Results } from "./results/create-results.ts";

const NEAREST = 3;

/** Names that do not exist are in the answer. Rejects with `REQUEST_NOT_FOUND` for a handle that cannot be read. */
export type Describe = (principal: Principal, names: readonly string[], detail: Detail) => Promise<Description>;

/** What is known of tools and servers. */
export interface DescribePowers {
  readonly takeSnapshot: (principal: Principal) => Promise<CatalogSnapshot>;
  readonly statuses: () => readonly UpstreamStatus[];
  readonly results: Results;
  /** The outline of a kept result holds names of fields, which are data: this hears of it before it is given out. */
  readonly takeIn: (principal: Principal, sources: readonly LabelSource[]) => Promise<void>;
  /** Whether programs have `fetch`. */
  readonly hasNetwork?: boolean;
  /** What the programs of one principal have as `secrets`. */
  readonly grantsOf?: (principal: PrincipalId) => SecretGrants;
  /** Takes known secrets out of a text. */
  readonly hide: (text: string) => string;
}

/** Handles are described by what is kept under them, everything else by the snapshot of the moment. */
export function createDescribe({
  takeSnapshot,
  statuses,
  results,
  takeIn,
  hasNetwork = false,
  grantsOf = () => new Map(),
  hide,
}: DescribePowers): Describe {
  return async (principal, names, detail) => {
    const handles = names.filter((name) => parseResultId(name) !== undefined);
    const kept = await Promise.all(handles.map((handle) => results.summarize(principal.id, handle)));
    for (const { labels } of kept) await takeIn(principal, labels);
    const described = kept.map((summary) => describeResult(summary)).join("");
    const others = names.filter((name) => !handles.includes(name));
    if (others.length === 0) return { declarations: described, tools: [], unknown: [] };
    const snapshot = await takeSnapshot(principal);
    const nearest = (name: string) => findNearest(snapshot, name, NEAREST);
    const explainEmpty = (id: ConnectorId) => describeEmpty(statuses().find(({ name }) => name === id));
    const own = { hasNetwork, secrets: grantsOf(principal.id) };
    const description = describeTools(snapshot, others, { detail, findNearest: nearest, explainEmpty, ...own });
    return { ...description, declarations: described + hide(description.declarations) };
  };
}

/** State, cause and next step of a server without tools. */
function describeEmpty(status: UpstreamStatus | undefined): string {
  if (!status) return "This server is not known any more. Use search to find what there is";
  const { name, state, cause, hint } = status;
  const why = cause ?? (state === "ready" && hint === undefined ? "it lists none" : "");
  const head = `The server ${JSON.stringify(name)} offers no tools; its state is ${state}${why === "" ? "" : `: ${why}`}`;
  return `${head}. ${hint ?? NEXT_STEPS[state]}`;
}

const NEXT_STEPS: Readonly<Record<UpstreamStatus["state"], string>> = {
  idle: "It starts when it is first needed; ask again in a moment",
  connecting: "It is starting; ask again in a moment",
  ready: "Ask the operator which server has what you need, or use search",
  failed: "It is tried again after a pause; the operator sees more with glovebox servers",
  "needs-login": "An operator can log in with glovebox servers login",
  suspended: "An operator can start it again with glovebox servers restart",
  closed: "Glovebox is shutting down",
};
