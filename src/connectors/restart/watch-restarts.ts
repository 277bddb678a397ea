/**
 * Restarts upstreams when an operator requests it in another process: the command line writes the request to the store,
 * and every gateway on that store polls for it. No address and no token is needed.
 */

import { pollEvery } from "../../timing/index.ts";
import { isJsonObject, parseJson } from "../../domain/index.ts";
import type { ConnectorId, Instant } from "../../domain/index.ts";

import type { Connector, DurableValues } from "../connector.ts";

/** Where requests are left for running gateways. */
const KEY = "restarts";

/** Ignores requests from before it began: every upstream has just been started. */
export function watchRestarts({
  connectors,
  values,
  everyMs,
}: {
  readonly connectors: readonly Connector[];
  readonly values: Pick<DurableValues, "get">;
  readonly everyMs: number;
}): AsyncDisposable {
  let earlier: ReadonlyMap<string, Instant> | undefined;
  const look = async (): Promise<void> => {
    const requested = parseRestarts(await values.get(KEY));
    const due = connectors.filter(({ id }) => earlier && requested.get(id) !== earlier.get(id));
    earlier = requested;
    await Promise.all(due.map(async (connector) => connector.restart?.()));
  };
  return pollEvery(everyMs, look, look());
}

/** Asks every gateway that shares `values` to restart one upstream. */
export async function requestRestart(
  values: Pick<DurableValues, "get" | "set">,
  upstream: ConnectorId,
  now: Instant,
): Promise<void> {
  const requested = parseRestarts(await values.get(KEY));
  await values.set(KEY, JSON.stringify(Object.fromEntries([...requested, [upstream, now]])));
}

function parseRestarts(text: string | undefined): ReadonlyMap<string, Instant> {
  const raw = parseJson(text ?? "");
  const entries = Object.entries(isJsonObject(raw) ? raw : {});
  return new Map(entries.flatMap(([id, at]) => (typeof at === "number" ? [[id, at]] : [])));
}
