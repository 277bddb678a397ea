/** The JSON encoding of OTLP, and ledger records as OpenTelemetry logs (`ExportLogsServiceRequest`). */

import { canonicalJson, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { isFailure } from "../record.ts";

/** Severities as OpenTelemetry numbers them. */
const INFO = { severityNumber: 9, severityText: "INFO" } as const;
const WARN = { severityNumber: 13, severityText: "WARN" } as const;
/** Details that become attributes; the body has all of them. */
const DETAILS = ["execution", "outcome", "state", "decision", "rule", "code"];

/** The body of each log is the record's line of an export, so the chain can be verified from the logs. */
export function toOtlp(records: readonly JsonObject[], version: string): JsonObject {
  const scopeLogs = [{ scope: { name: "glovebox.ledger" }, logRecords: records.map(toLog) }];
  return { resourceLogs: [{ resource: toOtlpResource(version), scopeLogs }] };
}

/** Identifies this product as the source of logs and spans. */
export function toOtlpResource(version: string): JsonObject {
  return { attributes: [toOtlpAttribute("service.name", "glovebox"), toOtlpAttribute("service.version", version)] };
}

function toLog(record: JsonObject): JsonObject {
  const { at, action, actor, subject, seq, digest, detail } = record;
  const nanos = typeof at === "number" ? `${at}000000` : "0";
  const details = isJsonObject(detail) ? detail : {};
  const found = DETAILS.filter((name) => Object.hasOwn(details, name));
  return {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    ...(isFailure(record) ? WARN : INFO),
    eventName: typeof action === "string" ? action : "?",
    body: { stringValue: canonicalJson(record) },
    attributes: [
      toOtlpAttribute("glovebox.ledger.seq", seq ?? null),
      toOtlpAttribute("glovebox.ledger.digest", digest ?? null),
      toOtlpAttribute("glovebox.action", action ?? null),
      toOtlpAttribute("glovebox.principal", actor ?? null),
      toOtlpAttribute("glovebox.subject", subject ?? null),
      ...found.map((name) => toOtlpAttribute(`glovebox.${name}`, details[name] ?? null)),
    ],
  };
}

/** OTLP writes 64-bit integers as JSON strings. */
export function toOtlpAttribute(key: string, value: Json): JsonObject {
  if (typeof value === "number" && Number.isSafeInteger(value)) return { key, value: { intValue: String(value) } };
  return { key, value: { stringValue: typeof value === "string" ? value : JSON.stringify(value) } };
}
