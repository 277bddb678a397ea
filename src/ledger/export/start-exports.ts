/** Sends the ledger to every destination of the settings. How to reach them is passed in. */

import { GloveboxError } from "../../domain/index.ts";
import type { ExportSettings, Instant, SecretTemplate } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import type { Signer } from "../signer.ts";
import { openLedgerExporter } from "./open-exporter.ts";
import type { LedgerExporter, Sink } from "./open-exporter.ts";
import { openFileSink } from "./open-file-sink.ts";
import { createOtlpSink, createSyslogSink } from "./sinks.ts";
import type { MessageSender } from "./sinks.ts";
import type { SyslogOrigin } from "./to-syslog.ts";

export interface ExportsOptions {
  readonly destinations: readonly ExportSettings[];
  readonly store: Store;
  readonly signer: Signer;
  readonly version: string;
  readonly origin: SyslogOrigin;
  readonly openMessages: (destination: Extract<ExportSettings, { kind: "syslog" }>) => MessageSender;
  /** Returns a fetch that reaches this origin and no other. */
  readonly fetchFrom: (origin: string) => PostRequest;
  readonly resolveTemplates: ResolveTemplates;
  /** Identifies this process among those that share the store. */
  readonly holder: string;
  /** Returns true if the process of this holder has certainly ended. */
  readonly hasEnded: (holder: string) => boolean;
  readonly now: () => Instant;
}

type PostRequest = (url: string, init: RequestInit) => Promise<Response>;
type ResolveTemplates = (
  templates: Readonly<Record<string, SecretTemplate>>,
  purpose: string,
) => Promise<Readonly<Record<string, string>>>;

/** The caller closes it before the connections that it uses. */
export function startExports(options: ExportsOptions): LedgerExporter {
  const { store, holder, hasEnded, now } = options;
  const sinks = options.destinations.map((destination) => createSink(destination, options));
  return openLedgerExporter({ store, sinks, holder, hasEnded, now });
}

function createSink(destination: ExportSettings, options: ExportsOptions): Sink {
  const { signer, store, version, origin, now } = options;
  const { id } = destination;
  switch (destination.kind) {
    case "file":
      return openFileSink({ ...destination, signer, store, now });
    case "syslog":
      return createSyslogSink({ id, line: options.openMessages(destination), origin });
    case "otlp":
      return createOtlpSink({ id, version, post: createPost(destination, options) });
    default:
      return destination satisfies never;
  }
}

/** Secrets are lent once and not per batch: each loan is a record, so the export would never be finished. */
function createPost(
  { url, headers }: Extract<ExportSettings, { kind: "otlp" }>,
  { fetchFrom, resolveTemplates }: ExportsOptions,
): (body: string, signal: AbortSignal) => Promise<void> {
  const { origin } = new URL(url);
  const fetch = fetchFrom(origin);
  let resolved: Promise<Readonly<Record<string, string>>> | undefined;
  return async (body, signal) => {
    resolved ??= resolveTemplates(headers, `export ${origin}`);
    const own = await resolved.catch((thrown: unknown) => {
      resolved = undefined;
      throw thrown;
    });
    const all = { ...own, "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", body, headers: all, signal });
    await response.text();
    if (response.ok) return;
    // The secret may have been replaced: the next attempt resolves it again.
    if (response.status === 401 || response.status === 403) resolved = undefined;
    throw new GloveboxError("UPSTREAM_FAILED", `${origin} answered ${response.status}`, {
      hint: "Check the url and the headers of `audit.export`",
    });
  };
}
