/** Records the start of a gateway and which of its settings changed since the last start. */

import { createHmac } from "node:crypto";

import { canonicalJson, isJsonObject, parseJson } from "../domain/index.ts";
import type { Json, JsonObject } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import type { Ledger } from "./open-ledger.ts";

/** Under which the digests of the last start's settings are stored. */
const KEY = "settings";

export interface StartOptions {
  readonly store: Pick<Store, "meta">;
  readonly ledger: Pick<Ledger, "write">;
  readonly version: string;
  /** Where the settings came from, such as `file`. */
  readonly source: string;
  /** The settings by section. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** Keys the digests: a reader of the ledger could guess values from plain ones. */
  readonly seed: Uint8Array;
  /** Names this process. */
  readonly process: string;
}

/** Records the start now, and the end when disposed. A ledger that cannot be written does not keep a gateway open. */
export async function recordLife(options: StartOptions): Promise<AsyncDisposable> {
  const { store, ledger, version, source, sections, seed, process } = options;
  const digest = (value: unknown): string =>
    `hmac-sha256:${createHmac("sha256", seed)
      .update(`settings\n${canonicalJson(toJson(value))}`)
      .digest("hex")}`;
  const digests = Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, digest(section)]));
  const former = await store.meta.get(KEY);
  const changed = findChanged(former, digests);
  if (changed.length > 0)
    await ledger.write({ actor: "operator", action: "configuration.changed", subject: source, detail: { changed } });
  const detail = { settings: digest(sections), source, process };
  await ledger.write({ actor: "gateway", action: "gateway.opened", subject: version, detail });
  if (former !== canonicalJson(digests)) await store.meta.set(KEY, canonicalJson(digests));
  const closed = { actor: "gateway", action: "gateway.closed", subject: version, detail: {} };
  return { [Symbol.asyncDispose]: async () => void (await ledger.write(closed).catch(() => undefined)) };
}

/** Returns nothing for a first start. */
function findChanged(before: string | undefined, now: JsonObject): readonly string[] {
  const parsed = before === undefined ? now : parseJson(before);
  const former = isJsonObject(parsed) ? parsed : {};
  const names = new Set([...Object.keys(former), ...Object.keys(now)]);
  return [...names].filter((name) => former[name] !== now[name]).toSorted();
}

/** Maps become objects; functions, which adapters hold, become null. */
function toJson(value: unknown): Json {
  if (value instanceof Map) return toJson(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, toJson(child)]));
}
