/** Sends ledger records as syslog messages, RFC 5424. The connection is a parameter, because this room opens none. */

import { canonicalJson } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { isFailure } from "../record.ts";
import type { Sink } from "./open-exporter.ts";

/** The sender of the messages. */
export interface SyslogOrigin {
  readonly host: string;
  readonly pid: number;
}

export interface MessageSender {
  /** Sends the messages in order and resolves when they are sent. */
  send(messages: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The facility "log audit", RFC 5424 §6.2.1. */
const FACILITY = 13;
const WARNING = 4;
const INFORMATIONAL = 6;
/** The enterprise number that RFC 5612 reserves for documentation. This project has no own number. */
const ENTERPRISE = 32_473;
const NOT_PRINTABLE = /[^\u0021-\u007e]/g;

/** The receiver does not acknowledge messages, so a sent message counts as delivered, even over UDP. */
export function createSyslogSink(id: string, line: MessageSender, origin: SyslogOrigin): Sink {
  const send: Sink["send"] = (records, signal) => {
    const messages = records.map((record) => toSyslog(record, origin));
    return line.send(messages, signal);
  };
  return { id, send, close: () => line.close() };
}

/** The message is the record's line of an export. Number and digest are also structured data. */
function toSyslog(record: JsonObject, { host, pid }: SyslogOrigin): string {
  const { at, action, actor, subject, seq, digest } = record;
  const priority = FACILITY * 8 + (isFailure(record) ? WARNING : INFORMATIONAL);
  const time = typeof at === "number" ? new Date(at).toISOString() : "-";
  const data = Object.entries({ seq, actor, subject, digest }).map(
    ([name, value]) => `${name}="${escapeValue(value)}"`,
  );
  const head = `<${priority}>1 ${time} ${toHeaderField(host, 255)} glovebox ${pid} ${toHeaderField(action, 32)}`;
  return `${head} [ledger@${ENTERPRISE} ${data.join(" ")}] \ufeff${canonicalJson(record)}`;
}

/** Returns a header field: printable ASCII, or `-` if empty. */
function toHeaderField(value: Json | undefined, length: number): string {
  return textOf(value).replaceAll(NOT_PRINTABLE, "").slice(0, length) || "-";
}

/** RFC 5424 §6.3.3. */
function escapeValue(value: Json | undefined): string {
  return textOf(value).replaceAll(/["\\\]]/g, String.raw`\$&`);
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
