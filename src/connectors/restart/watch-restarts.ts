/**
 * Restarts upstreams when an operator requests it in another process: the command line writes the request to the store,
 * and every gateway on that store polls for it. No address and no token is needed.
 */

import { pollEvery } from "../../timing/index.ts";
import { isJsonObject } from "../../domain/index.ts";
import type { ConnectorId, Instant } from "../../domain/index.ts";

import type { Connector, DurableValues } from "../connector.ts";

/** Where requests are left for running gateways. */
const KEY = "restarts";

export interface RestartWatch extends AsyncDisposable {}

export interface RestartOptions {
  readonly connectors: readonly Connector[];
  readonly values: Pick<DurableValues, "get">;
  readonly everyMs: number;
}

/** Ignores requests from before it began: every upstream has just been started. */
export function watchRestarts({ connectors, values, everyMs }: RestartOptions): RestartWatch {
  let seen: ReadonlyMap<string, Instant> | undefined;
  const look = async (): Promise<void> => {
    const requested = parseRestarts(await values.get(KEY));
    const due = seen === undefined ? [] : connectors.filter(({ id }) => requested.get(id) !== seen?.get(id));
    seen = requested;
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
  const raw = parseJson(text ?? "{}");
  const entries = Object.entries(isJsonObject(raw) ? raw : {});
  return new Map(entries.flatMap(([id, at]) => (typeof at === "number" ? [[id, at]] : [])));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
