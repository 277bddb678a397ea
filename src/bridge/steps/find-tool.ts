/** Steps that find the tool a guest means, and refuse one that its call plan does not contain. */

import { cleanText } from "../../text/index.ts";
import { findNearest } from "../../catalog/index.ts";
import { GloveboxError, describeWithheld, parseToolAddress } from "../../domain/index.ts";
import type { CallPlan, CatalogSnapshot, Tool, ToolAddress } from "../../domain/index.ts";
import { takeTurn } from "../../timing/index.ts";

import type { Crossing } from "../crossing.ts";

const SHOWN_NAME_CHARS = 128;
const BYTES_PER_CHAR = 3;
const NEAREST = 3;

export function findTarget(crossing: Crossing): Promise<never> | undefined {
  const { bridge, rawAddress } = crossing;
  const { builtins, snapshot } = bridge.options;
  const address = parseToolAddress(rawAddress);
  // An upstream cannot have the namespace of builtins: the naming rule reserves it.
  const found = address && (builtins?.get(address) ?? findTool(snapshot, address));
  if (found) {
    setTarget(crossing, found);
    return undefined;
  }
  // Similar names take long to find, and a program can name many tools at once.
  const { owner, spend } = bridge.hostTime;
  const refuse = (): never => refuseUnknown(snapshot, address, rawAddress);
  const turn = takeTurn(owner);
  return turn ? turn.then(() => spend(refuse)) : refuse();
}

function setTarget(crossing: Crossing, target: Crossing["target"]): void {
  const { entry } = crossing;
  const { tool } = target;
  crossing.target = target;
  entry.tool = tool.address;
  entry.effect = tool.effect;
  entry.isRepeatable = tool.idempotent ?? false;
  entry.definition = tool.digest;
}

/**
 * Whatever the policy allows: a program that reaches a tool which its source does not show makes a call that was not
 * reviewed.
 */
export function checkPlan({ bridge, target }: Crossing): void {
  if (!target.answer) refuseUnplanned(bridge.options.plan, target.tool);
}

/** Looks up the exact address in a map: what a guest names is never read as a property. */
function findTool({ tools, hidden }: CatalogSnapshot, address: ToolAddress): { readonly tool: Tool } | undefined {
  const tool = tools.get(address) ?? hidden?.get(address);
  return tool && { tool };
}

function refuseUnknown(snapshot: CatalogSnapshot, address: ToolAddress | undefined, rawAddress: unknown): never {
  const refusal = address && snapshot.refused?.get(address);
  if (refusal) throw new GloveboxError(refusal.code, refusal.message, { hint: refusal.hint });
  const withheld = address && snapshot.withheld?.get(address);
  if (withheld) {
    const { message, hint } = describeWithheld(withheld);
    throw new GloveboxError("TOOL_WITHHELD", message, { hint });
  }
  const name = nameOf(rawAddress);
  const empty = snapshot.namespaces.find(
    (namespace) => namespace.tools.length === 0 && name.startsWith(`${namespace.name}.`),
  );
  if (empty) {
    throw new GloveboxError("TOOL_NOT_FOUND", `${empty.name} offers no tools now`, {
      hint: "Its server may have failed; search says which servers are ready, and why one is not",
    });
  }
  const nearest = findNearest(snapshot, name, NEAREST);
  throw new GloveboxError("TOOL_NOT_FOUND", `Unknown tool ${JSON.stringify(name)}`, {
    hint: nearest.length > 0 ? `Did you mean ${nearest.join(", ")}?` : "Look for it with search",
  });
}

function refuseUnplanned(plan: CallPlan | undefined, tool: Tool): void {
  if (!plan?.exact || plan.calls.some((call) => call.tool === tool.address)) return;
  throw new GloveboxError("PROGRAM_FORBIDDEN", `${tool.address} is not in the program's call plan`, {
    hint: `Name the tool where it is called: await ${tool.address}({ … })`,
  });
}

/** The name that the guest used, short and harmless to show. */
export function nameOf(rawAddress: unknown): string {
  if (typeof rawAddress !== "string") return `[${typeof rawAddress}]`;
  const text = cleanText(rawAddress.slice(0, SHOWN_NAME_CHARS), { maxBytes: SHOWN_NAME_CHARS * BYTES_PER_CHAR });
  return text.replaceAll(/[\n\t]/g, " ");
}
