/** Loads the adapters that a configuration names and refuses invalid ones before anything starts. */

import { GloveboxError, isJsonObject, parseConnectorId } from "../../domain/index.ts";
import type { Adapter, ConnectorId, UpstreamSettings } from "../../domain/index.ts";

import { matchesName } from "../network-policies.ts";

const MARK: Adapter["kind"] = "glovebox.adapter";
const EFFECTS: readonly unknown[] = ["read", "write", "destroy", "unknown"];

/** An adapter with its pin mode, if the configuration sets one, and its network. */
export interface ParsedAdapter extends Pick<UpstreamSettings["adapters"][number], "pin" | "network"> {
  readonly adapter: Adapter;
}

/**
 * In the order of the configuration. Throws `CONFIG_INVALID` if a module cannot be loaded or exports no adapter, or if
 * two upstreams have one name.
 */
export async function parseAdapters(
  sources: readonly UpstreamSettings["adapters"][number][],
  taken: Iterable<ConnectorId>,
): Promise<ReadonlyMap<ConnectorId, ParsedAdapter>> {
  const names = new Set<string>(taken);
  const adapters = new Map<ConnectorId, ParsedAdapter>();
  for (const source of sources) {
    const found = parseExports(source.place, await load(source));
    refuseUnfit(source, found);
    for (const adapter of found) {
      const id = parseConnectorId(adapter.name);
      if (id === undefined)
        throw refuse(source.place, "the adapter's name is not a string of 1 to 256 plain characters");
      if (names.has(id)) throw refuse(source.place, `another upstream is also called ${JSON.stringify(id)}`);
      names.add(id);
      adapters.set(id, { adapter, pin: source.pin, network: source.network });
    }
  }
  return adapters;
}

/** A policy for a tool that does not exist is refused: it was meant for another tool. */
function refuseUnfit({ place, network }: UpstreamSettings["adapters"][number], adapters: readonly Adapter[]): void {
  const names = adapters.flatMap(({ tools }) => Object.keys(tools));
  const unfit = network.tools.find(({ pattern }) => !names.some((name) => matchesName(pattern, name)));
  if (unfit) throw refuse(place, `tools: no tool matches ${JSON.stringify(unfit.pattern)}`);
}

async function load({ place, load: loadOne }: UpstreamSettings["adapters"][number]): Promise<unknown> {
  try {
    return await loadOne();
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}`.slice(0, 500) : "it threw no Error";
    throw refuse(place, `the module could not be loaded: ${reason}`, cause);
  }
}

/** The object itself, or every adapter among the exports of a module. */
function parseExports(place: string, raw: unknown): readonly Adapter[] {
  if (isMarked(raw)) return [parseAdapter(place, raw)];
  const exported = new Set<unknown>(typeof raw === "object" && raw !== null ? Object.values(raw) : []);
  const found = [...exported].filter(isMarked).map((one) => parseAdapter(place, one));
  if (found.length === 0) throw refuse(place, "it exports no adapter; create one with defineAdapter");
  return found;
}

function isMarked(raw: unknown): raw is { readonly kind: typeof MARK } {
  return typeof raw === "object" && raw !== null && "kind" in raw && raw.kind === MARK;
}

/** The object may have been written by hand, or by another version of this package. */
function parseAdapter(place: string, raw: Pick<Adapter, "kind"> & Partial<Adapter>): Adapter {
  const { kind, name, tools } = raw;
  if (typeof name !== "string" || !isJsonObject(tools)) throw refuse(place, "the adapter has no name or no tools");
  for (const [key, tool] of Object.entries(tools)) {
    if (!isTool(tool)) throw refuse(place, `the tool ${JSON.stringify(key)} was not made by defineAdapter`);
  }
  return { kind, name, tools };
}

function isTool(raw: unknown): raw is Adapter["tools"][string] {
  const { description, input, output, effect, run }: Readonly<Record<string, unknown>> = isJsonObject(raw) ? raw : {};
  return (
    typeof description === "string" &&
    isJsonObject(input) &&
    (output === null || isJsonObject(output)) &&
    EFFECTS.includes(effect) &&
    typeof run === "function"
  );
}

function refuse(place: string, why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${place}: ${why}`, {
    hint: "Correct the entry of adapters and start again",
    cause,
  });
}
