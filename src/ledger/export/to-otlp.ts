/** Ledger records as OpenTelemetry logs: the JSON encoding of an OTLP `ExportLogsServiceRequest`. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject } from "../../domain/index.ts";

import { toLedgerLine } from "../record.ts";
import { isFailure } from "./is-failure.ts";

/** OpenTelemetry's numbers for INFO and WARN. */
const INFO = { severityNumber: 9, severityText: "INFO" } as const;
const WARN = { severityNumber: 13, severityText: "WARN" } as const;
/** What is worth finding a log by; the rest is in the body. */
const DETAILS = ["execution", "outcome", "state", "decision", "rule", "code"];

/** The body of each log is the record's own line of an export, so that the chain can be checked from the logs. */
export function toOtlp(records: readonly JsonObject[], version: string): JsonObject {
  const service = [attribute("service.name", "glovebox"), attribute("service.version", version)];
  const scopeLogs = [{ scope: { name: "glovebox.ledger" }, logRecords: records.map(toLog) }];
  return { resourceLogs: [{ resource: { attributes: service }, scopeLogs }] };
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
    body: { stringValue: toLedgerLine(record) },
    attributes: [
      attribute("glovebox.ledger.seq", seq ?? null),
      attribute("glovebox.ledger.digest", digest ?? null),
      attribute("glovebox.action", action ?? null),
      attribute("glovebox.principal", actor ?? null),
      attribute("glovebox.subject", subject ?? null),
      ...found.map((name) => attribute(`glovebox.${name}`, details[name] ?? null)),
    ],
  };
}

/** In JSON, OTLP writes 64-bit numbers as text. */
function attribute(key: string, value: Json): JsonObject {
  if (typeof value === "number" && Number.isSafeInteger(value)) return { key, value: { intValue: String(value) } };
  return { key, value: { stringValue: typeof value === "string" ? value : JSON.stringify(value) } };
}
