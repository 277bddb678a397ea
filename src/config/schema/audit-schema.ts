/** Schema of `audit` and `ledger`: what records contain, where they are sent, and how long they are kept. */

import { z } from "zod";

import { isExportUrl } from "../formats.ts";
import { flag, nonEmptyString, optional, strings } from "./fields.ts";

const EXPORT_URL = "expected tcp:// or udp:// with host and port, or an http or https URL without user name";

const exportSchema = z
  .strictObject({
    kind: z
      .enum(["file", "syslog", "otlp"])
      .describe("The destination: a file of JSON Lines, a syslog receiver (RFC 5424), or OpenTelemetry over HTTP."),
    path: optional(nonEmptyString, "For file: the path, relative to the folder of this configuration."),
    url: optional(
      z.string().refine(isExportUrl, EXPORT_URL),
      "For syslog: tcp://host:port or udp://host:port. For otlp: the URL for logs.",
    ),
    headers: optional(strings, "For otlp: request headers; may contain ${secret:NAME}."),
  })
  .describe("One destination for every record.");

export const auditSchema = z
  .strictObject({
    previews: flag(false, "Keep the beginning of arguments and results in the ledger, not only their digests."),
    export: z.array(exportSchema).max(10).default([]).describe("Destinations that receive every new record."),
  })
  .prefault({})
  .describe("What records contain, and where they are sent in addition to the store.");

export const ledgerSchema = z
  .strictObject({
    retention: z
      .strictObject({
        days: optional(z.int().min(1).max(36_500), "Delete records older than this."),
        records: optional(
          z.int().min(1).max(1_000_000_000),
          "Keep this many of the newest records and delete older ones.",
        ),
      })
      .prefault({})
      .describe("Which records are deleted, up to a signed checkpoint. Default: none."),
  })
  .prefault({})
  .describe("How long records are kept.");
