/** Describes what a name refers to: a tool, a whole server, or a kept result. */

import { findNearest } from "../catalog/index.ts";
import type { Shapes } from "../catalog/index.ts";
import { defined, parseResultId } from "../domain/index.ts";
import type {
  CatalogSnapshot,
  Instant,
  LabelSource,
  Principal,
  PrincipalId,
  ResultId,
  SecretGrants,
  UpstreamStatus,
} from "../domain/index.ts";
import { runInSlices } from "../timing/index.ts";
import type { RunSlice } from "../timing/index.ts";
import { describeInSlices } from "../typegen/index.ts";
import type { Description, DescribeDetail } from "../typegen/index.ts";
import { createToolSearch } from "./create-tool-search.ts";
import type { ToolSearch } from "./create-tool-search.ts";

const NEAREST = 3;

/** Unknown names are listed in the description. Rejects with `REQUEST_NOT_FOUND` for a handle that cannot be read. */
export type Describe = (
  principal: Principal,
  names: readonly string[],
  detail: DescribeDetail,
  options?: DescribeBounds,
) => Promise<Description>;

export interface DescribeBounds {
  /** Runs and counts the work of this thread; by default nothing is counted. */
  readonly spend?: RunSlice;
  /** The most characters of the declarations as a JSON string; what does not fit is named, or at least counted. */
  readonly maxCharacters?: number;
}

/** A kept result without its content. */
interface ResultHead {
  readonly id: ResultId;
  readonly mimeType: string;
  readonly bytes: number;
  /** An outline of the type; empty for a file. */
  readonly shape: string;
  readonly expiresAt: Instant;
  readonly labels: readonly LabelSource[];
}

export interface DescribeRooms {
  readonly takeView: (principal: Principal, namespaces: readonly string[]) => Promise<CatalogSnapshot>;
  readonly catalog: { statuses(): readonly UpstreamStatus[] };
  /** Adds what was learned about results. The check of programs does not use it. */
  readonly shapes?: Pick<Shapes, "addTo"> | undefined;
  readonly results: {
    /** Rejects with `REQUEST_NOT_FOUND` for an unknown handle or another principal's. */
    summarize(principal: PrincipalId, rawHandle: string): Promise<ResultHead>;
  };
  readonly flows: {
    /** Called with the labels of a kept result before its outline is returned: field names are data. */
    takeIn(principal: Principal, sources: readonly LabelSource[]): Promise<void>;
  };
  readonly network: { has(): boolean };
  readonly secrets: { grantsOf(principal: PrincipalId): SecretGrants };
  /** Removes known secrets from a string. */
  readonly hide: (text: string) => string;
}

const runSlice: RunSlice = (slice) => slice();

/** What clients and programs learn about tools. */
export function createDiscovery(rooms: DescribeRooms): { readonly search: ToolSearch; readonly describe: Describe } {
  return { search: createToolSearch(rooms), describe: createDescribe(rooms) };
}

/** Handles are described from the kept result, all other names from the current snapshot. */
function createDescribe(rooms: DescribeRooms): Describe {
  const { takeView, catalog, shapes, results, flows, network, secrets, hide } = rooms;
  return async (principal, names, detail, { spend = runSlice, maxCharacters } = {}) => {
    const handles = names.filter((name) => parseResultId(name) !== undefined);
    const kept = await Promise.all(handles.map((handle) => results.summarize(principal.id, handle)));
    for (const { labels } of kept) await flows.takeIn(principal, labels);
    const described = kept.map((summary) => describeResult(summary)).join("");
    const others = names.filter((name) => !handles.includes(name));
    if (others.length === 0) return { declarations: described, tools: [], unknown: [] };
    const namespaces = others.map((name) => name.split(".", 1).join());
    const view = await takeView(principal, namespaces);
    const snapshot = spend(() => shapes?.addTo(view, principal) ?? view);
    const work = describeInSlices(snapshot, others, {
      detail,
      findNearest: (name) => findNearest(snapshot, name, NEAREST),
      explainEmpty: (id) => describeEmpty(catalog.statuses().find(({ name }) => name === id)),
      hasNetwork: network.has(),
      secrets: secrets.grantsOf(principal.id),
      ...defined({
        maxCharacters: maxCharacters === undefined ? undefined : maxCharacters - JSON.stringify(described).length,
      }),
    });
    const description = await runInSlices(work, spend);
    return { ...description, declarations: described + spend(() => hide(description.declarations)) };
  };
}

/** Comments and a type, like the description of a tool. */
function describeResult({ id, mimeType, bytes, shape, expiresAt }: ResultHead): string {
  const until = new Date(expiresAt).toISOString();
  const head = `// ${id}: ${cleanType(mimeType)}, ${bytes} bytes, kept until ${until}`;
  const read = `// Read it in a program: await glovebox.results.read("${id}", { path, offset, limit, grep })`;
  return `${[head, read, ...(shape === "" ? [] : [`// ${shape}`])].join("\n")}\n`;
}

/** An upstream chose the MIME type, so other characters are replaced. */
function cleanType(mimeType: string): string {
  return mimeType.replaceAll(/[^\w.+/-]/g, "?").slice(0, 100);
}

/** State, cause and next step of a server without tools. */
function describeEmpty(status: UpstreamStatus | undefined): string {
  if (!status) return "This server is no longer configured. Use search to find tools";
  const { name, state, cause, hint } = status;
  const why = cause ?? (state === "ready" && hint === undefined ? "it lists none" : "");
  const head = `The server ${JSON.stringify(name)} offers no tools; its state is ${state}${why === "" ? "" : `: ${why}`}`;
  return `${head}. ${hint ?? NEXT_STEPS[state]}`;
}

const NEXT_STEPS: Readonly<Record<UpstreamStatus["state"], string>> = {
  idle: "It starts when it is first needed; try again in a moment",
  connecting: "It is starting; try again in a moment",
  ready: "Use search to find a tool on another server, or ask the operator",
  failed: "Glovebox retries automatically; `glovebox servers` shows the operator the cause",
  "needs-login": "An operator can log in with `glovebox servers login`",
  suspended: "An operator can restart it with `glovebox servers restart`",
  closed: "Glovebox is shutting down",
};
