/** Sinks on the network. The connection is a parameter, because this room opens none. */

import type { JsonObject } from "../../domain/index.ts";

import type { Sink } from "./open-exporter.ts";
import { toOtlp } from "./to-otlp.ts";
import { toSyslog } from "./to-syslog.ts";
import type { SyslogOrigin } from "./to-syslog.ts";

export interface MessageSender {
  /** Sends the messages in order and resolves when they are sent. */
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
  /** Rejects unless the receiver accepted the body. */
  readonly post: (body: string, signal: AbortSignal) => Promise<void>;
}

/** RFC 5424. The receiver does not acknowledge messages, so a sent message counts as delivered, even over UDP. */
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

/** OTLP over HTTP with JSON, one request per batch. */
export function createOtlpSink({ id, version, post }: OtlpSinkOptions): Sink {
  return {
    id,
    send: (records: readonly JsonObject[], signal) => post(JSON.stringify(toOtlp(records, version)), signal),
    close: async () => undefined,
  };
}
