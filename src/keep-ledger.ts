/** What goes on around the ledger while a gateway runs: exports, retention, and the records of its own start and end. */

import { createHmac } from "node:crypto";
import { hostname } from "node:os";

import { createOtlpSink, createSyslogSink, cutLedger, openLedgerExporter, openFileSink } from "./ledger/index.ts";
import type { Ledger, LedgerExporter, Signer, Sink } from "./ledger/index.ts";
import type { Settings } from "./config/index.ts";
import { GloveboxError, canonicalJson, isJsonObject } from "./domain/index.ts";
import type { ExportSettings, Json } from "./domain/index.ts";
import { openMessageLine } from "./egress/index.ts";
import type { Egress } from "./egress/index.ts";
import { hasEnded, nameProcess } from "./processes/index.ts";
import type { Store } from "./store/index.ts";
import type { Vault } from "./vault/index.ts";
import { resolveTemplates } from "./connectors/index.ts";

export interface LedgerParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly signer: Signer;
  readonly egress: Egress;
  readonly vault: Vault;
  readonly version: string;
}

const HOUR_MS = 3_600_000;
const ANSWER_BYTES = 64 * 1024;
/** Where the last start left what its settings were. */
const SETTINGS = "settings";

/** Nothing is sent before there is a record; the caller closes it before `egress`. */
export function startExports({ audit }: Settings, parts: LedgerParts): LedgerExporter {
  const { store } = parts;
  const sinks = audit.exports.map((place) => createSink(place, parts));
  return openLedgerExporter({ store, sinks, holder: nameProcess(), hasEnded, now: Date.now });
}

function createSink(place: ExportSettings, parts: LedgerParts): Sink {
  switch (place.kind) {
    case "file":
      return openFileSink({ ...place, signer: parts.signer, store: parts.store, now: Date.now });
    case "syslog":
      return createSyslogSink({
        id: place.id,
        line: openMessageLine(place),
        origin: { host: hostname(), pid: process.pid },
      });
    case "otlp":
      return createOtlpSink({ id: place.id, version: parts.version, post: createPost(place, parts) });
    default:
      return place satisfies never;
  }
}

/** Secrets are lent once: each loan is a record, and a record for every batch would never come to an end. */
function createPost({ url, headers }: Extract<ExportSettings, { kind: "otlp" }>, { egress, vault }: LedgerParts) {
  const { origin } = new URL(url);
  const fetch = egress.fetchFrom(origin, { maxBytes: ANSWER_BYTES, mayBePrivate: true });
  let filled: Promise<Readonly<Record<string, string>>> | undefined;
  return async (body: string, signal: AbortSignal): Promise<void> => {
    filled ??= resolveTemplates(headers, vault, `export ${origin}`);
    const own = await filled.catch((thrown: unknown) => {
      filled = undefined;
      throw thrown;
    });
    const all = { ...own, "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", body, headers: all, signal });
    await response.text();
    if (response.ok) return;
    // The secret may have been set anew since: the next attempt asks for it again.
    if (response.status === 401 || response.status === 403) filled = undefined;
    throw new GloveboxError("UPSTREAM_FAILED", `${origin} answered ${response.status}`, {
      hint: "Check `audit.export`: its url and its headers",
    });
  };
}

/** At the start and then every hour. Closing it waits for what is under way. */
export function startRetention({ ledger: { retention }, audit }: Settings, parts: LedgerParts): AsyncDisposable {
  if (retention.days === undefined && retention.records === undefined)
    return { [Symbol.asyncDispose]: async () => undefined };
  const exports = audit.exports.map(({ id }) => id);
  let work = Promise.resolve();
  const cut = (): void => {
    // A store that is away now is cut an hour later.
    work = work
      .then(() => cutLedger({ ...parts, now: Date.now, retention, exports }))
      .then(
        () => undefined,
        () => undefined,
      );
  };
  cut();
  const timer = setInterval(cut, HOUR_MS).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await work;
    },
  };
}

/**
 * Who runs here with which settings, and what of them is new since the last start. Settings are told by keyed digests:
 * a plain one would let whoever reads the ledger try values.
 */
export async function recordStart(
  settings: Settings,
  { store, ledger, version, seed }: Pick<LedgerParts, "store" | "ledger" | "version"> & { readonly seed: Uint8Array },
): Promise<void> {
  const { source, folder: _, ...sections } = settings;
  const mark = (value: unknown): string =>
    `hmac-sha256:${createHmac("sha256", seed)
      .update(`settings\n${canonicalJson(toPlain(value))}`)
      .digest("hex")}`;
  const marks = Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, mark(section)]));
  const former = await store.meta.get(SETTINGS);
  const changed = findChanged(former, marks);
  if (changed.length > 0)
    await ledger.write({
      actor: "operator",
      action: "configuration.changed",
      subject: source.kind,
      detail: { changed },
    });
  const detail = { settings: mark(sections), source: source.kind, process: nameProcess() };
  await ledger.write({ actor: "gateway", action: "gateway.opened", subject: version, detail });
  if (former !== canonicalJson(marks)) await store.meta.set(SETTINGS, canonicalJson(marks));
}

/** Empty for a first start. */
function findChanged(before: string | undefined, now: Readonly<Record<string, string>>): readonly string[] {
  const former = before === undefined ? now : parseMarks(before);
  const names = new Set([...Object.keys(former), ...Object.keys(now)]);
  return [...names].filter((name) => former[name] !== now[name]).toSorted();
}

function parseMarks(text: string): Readonly<Record<string, Json>> {
  const parsed: unknown = JSON.parse(text);
  return isJsonObject(parsed) ? parsed : {};
}

/** Maps become objects; functions, which adapters hold, are left out. */
function toPlain(value: unknown): Json {
  if (value instanceof Map) return toPlain(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, toPlain(child)]));
}
