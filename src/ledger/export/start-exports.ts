/** Sends the ledger to every destination of the settings. How to reach them is passed in. */

import { GloveboxError } from "../../domain/index.ts";
import type { ExportSettings, SecretTemplate } from "../../domain/index.ts";

import type { Signer } from "../signer.ts";
import { openLedgerExporter } from "./open-exporter.ts";
import type { LedgerExporter, LedgerExporterOptions, Sink } from "./open-exporter.ts";
import { openFileSink } from "./open-file-sink.ts";
import { toOtlp } from "./to-otlp.ts";
import { createSyslogSink } from "./to-syslog.ts";
import type { MessageSender, SyslogOrigin } from "./to-syslog.ts";

export interface ExportsOptions extends Omit<LedgerExporterOptions, "sinks" | "times"> {
  readonly destinations: readonly ExportSettings[];
  readonly signer: Signer;
  readonly version: string;
  readonly origin: SyslogOrigin;
  readonly openMessages: (destination: Extract<ExportSettings, { kind: "syslog" }>) => MessageSender;
  /** Returns a fetch that reaches this origin and no other. */
  readonly fetchFrom: (origin: string) => (url: string, init: RequestInit) => Promise<Response>;
  readonly resolveTemplates: (
    templates: Readonly<Record<string, SecretTemplate>>,
    purpose: string,
  ) => Promise<Readonly<Record<string, string>>>;
}

/** The caller closes it before the connections that it uses. */
export function startExports(options: ExportsOptions): LedgerExporter {
  const sinks = options.destinations.map((destination) => createSink(destination, options));
  return openLedgerExporter({ ...options, sinks });
}

function createSink(destination: ExportSettings, options: ExportsOptions): Sink {
  const { signer, store, version, origin, now } = options;
  const { id } = destination;
  switch (destination.kind) {
    case "file":
      return openFileSink({ ...destination, signer, store, now });
    case "syslog":
      return createSyslogSink(id, options.openMessages(destination), origin);
    case "otlp": {
      const post = createPost(destination, options);
      return { id, send: (records, signal) => post(JSON.stringify(toOtlp(records, version)), signal) };
    }
    default:
      return destination satisfies never;
  }
}

/** OTLP over HTTP with JSON, one request per batch. Secrets are lent once and not per batch: each loan is a record, so the export would never be finished. */
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
