/** The part of the schema about records: what they say, where they go, how long they are kept. */

import { z } from "zod";

import { isExportUrl } from "../formats.ts";
import { nonEmptyText, text } from "./fields.ts";

const exportSchema = z
  .strictObject({
    kind: z.enum(["file", "syslog", "otlp"]).meta({
      description: "Where records go: a file of JSON Lines, a syslog receiver (RFC 5424), or OpenTelemetry over HTTP.",
    }),
    path: nonEmptyText.optional().meta({ description: "For file: the file, relative to this file's folder." }),
    url: z
      .string()
      .refine(isExportUrl, "expected tcp:// or udp:// with host and port, or an http or https URL without user name")
      .optional()
      .meta({ description: "For syslog: tcp://host:port or udp://host:port. For otlp: where logs are sent." }),
    headers: z.record(z.string(), text).optional().meta({ description: "For otlp; may hold ${secret:NAME}." }),
  })
  .meta({ description: "One place that every record is sent to." });

/** What is in a record, and who gets it beside the store. */
export const auditSchema = z
  .strictObject({
    previews: z.boolean().default(false).meta({
      description: "Keep the beginning of arguments and results in the ledger, not only their digests.",
    }),
    export: z.array(exportSchema).max(10).default([]).meta({ description: "Where records are sent as they come." }),
  })
  .prefault({})
  .meta({ description: "What records say, and where they go beside the store." });

/** What the ledger drops, and when. */
export const ledgerSchema = z
  .strictObject({
    retention: z
      .strictObject({
        days: z.int().min(1).max(36_500).optional().meta({ description: "Records older than this are dropped." }),
        records: z
          .int()
          .min(1)
          .max(1_000_000_000)
          .optional()
          .meta({ description: "Records beyond this many, counted from the newest, are dropped." }),
      })
      .prefault({})
      .meta({ description: "What is dropped, up to a signed checkpoint. Left out, everything is kept." }),
  })
  .prefault({})
  .meta({ description: "How long records are kept." });
