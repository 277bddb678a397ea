/** The places that are reached over the network. How to reach them is handed in: this room opens no connection. */

import type { JsonObject } from "../../domain/index.ts";

import type { Sink } from "./open-exporter.ts";
import { toOtlp } from "./to-otlp.ts";
import { toSyslog } from "./to-syslog.ts";
import type { SyslogOrigin } from "./to-syslog.ts";

/** Sends messages in order, and resolves when they have left. */
export interface MessageSender {
  send(messages: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface SyslogSinkOptions {
  readonly id: string;
  readonly line: MessageSender;
  readonly origin: SyslogOrigin;
}

export interface OtlpSinkOptions {
  readonly id: string;
  readonly version: string;
  /** Rejects unless the receiver took it. */
  readonly post: (body: string, signal: AbortSignal) => Promise<void>;
}

/** RFC 5424. The receiver does not answer, so what left counts as taken; over UDP even that is a hope. */
export function createSyslogSink({ id, line, origin }: SyslogSinkOptions): Sink {
  return {
    id,
    send: (records, signal) =>
      line.send(
        records.map((record) => toSyslog(record, origin)),
        signal,
      ),
    close: () => line.close(),
  };
}

/** OTLP over HTTP with JSON, one request for each batch. */
export function createOtlpSink({ id, version, post }: OtlpSinkOptions): Sink {
  return {
    id,
    send: (records: readonly JsonObject[], signal) => post(JSON.stringify(toOtlp(records, version)), signal),
    close: async () => undefined,
  };
}
