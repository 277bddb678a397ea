/** Step 2 of a crossing: which tool a guest means, or why there is none. */

import { cleanText } from "../text/index.ts";
import { findNearest } from "../catalog/index.ts";
import { GloveboxError, describeWithheld, parseToolAddress } from "../domain/index.ts";
import type { CallPlan, CatalogSnapshot, Tool } from "../domain/index.ts";

const SHOWN_NAME_CHARS = 128;
const BYTES_PER_CHAR = 3;
const NEAREST = 3;

/** Exact, in a map: what a guest names is never looked up as a property. */
export function findTool(snapshot: CatalogSnapshot, rawAddress: unknown): Tool {
  const address = parseToolAddress(rawAddress);
  const tool = address && (snapshot.tools.get(address) ?? snapshot.hidden?.get(address));
  if (tool) return tool;
  const withheld = address && snapshot.withheld?.get(address);
  if (withheld) {
    const { message, hint } = describeWithheld(withheld);
    throw new GloveboxError("TOOL_WITHHELD", message, { hint });
  }
  const name = nameOf(rawAddress);
  const silent = snapshot.namespaces.find(
    (namespace) => namespace.tools.length === 0 && name.startsWith(`${namespace.name}.`),
  );
  if (silent) {
    throw new GloveboxError("TOOL_NOT_FOUND", `${silent.name} offers no tools now`, {
      hint: "Its server may have failed; search says which servers are ready, and why one is not",
    });
  }
  const nearest = findNearest(snapshot, name, NEAREST);
  throw new GloveboxError("TOOL_NOT_FOUND", `There is no tool ${JSON.stringify(name)}`, {
    hint: nearest.length > 0 ? `Did you mean ${nearest.join(", ")}?` : "Look for it with search",
  });
}

/**
 * A program that found a way to a tool which its text does not show is stopped here, whatever the policy says: nobody
 * has seen that call coming.
 */
export function refuseUnplanned(plan: CallPlan | undefined, tool: Tool): void {
  if (!plan?.exact || plan.calls.some((call) => call.tool === tool.address)) return;
  throw new GloveboxError("PROGRAM_FORBIDDEN", `${tool.address} is not in the program's call plan`, {
    hint: `Name the tool where it is called: await ${tool.address}({ … })`,
  });
}

/** What the guest asked for, short and harmless to show. */
export function nameOf(rawAddress: unknown): string {
  if (typeof rawAddress !== "string") return `[${typeof rawAddress}]`;
  const text = cleanText(rawAddress.slice(0, SHOWN_NAME_CHARS), { maxBytes: SHOWN_NAME_CHARS * BYTES_PER_CHAR });
  return text.replaceAll(/[\n\t]/g, " ");
}
