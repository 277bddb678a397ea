/**
 * Restarts upstreams when a person asks for it at another process: a command line writes the wish where all gateways
 * of an installation look, and each of them fulfils it. There is no address and no token to know.
 */

import { pollEvery } from "../timing/index.ts";
import { isJsonObject } from "../domain/index.ts";
import type { Instant } from "../domain/index.ts";

import type { Connector } from "./connector.ts";

export interface RestartWatch extends AsyncDisposable {}

export interface RestartOptions {
  readonly connectors: readonly Connector[];
  /** The text that `addRestart` made last, if any. */
  readonly read: () => Promise<string | undefined>;
  readonly everyMs: number;
}

/** Wishes from before it began are not its own: everything has just been started. */
export function watchRestarts({ connectors, read, everyMs }: RestartOptions): RestartWatch {
  let seen: ReadonlyMap<string, Instant> | undefined;
  const look = async (): Promise<void> => {
    const asked = parseRestarts(await read());
    const due = seen === undefined ? [] : connectors.filter(({ id }) => asked.get(id) !== seen?.get(id));
    seen = asked;
    await Promise.all(due.map(async (connector) => connector.restart?.()));
  };
  return pollEvery(everyMs, look, look());
}

/** The text of all wishes so far with one more. */
export function addRestart(text: string | undefined, id: string, at: Instant): string {
  return JSON.stringify(Object.fromEntries([...parseRestarts(text), [id, at]]));
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
