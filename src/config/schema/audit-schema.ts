/** Schema of `audit` and `ledger`: what records contain, where they are sent, and how long they are kept. */

import { z } from "zod";

import { isExportUrl } from "../formats.ts";
import { nonEmptyString, string } from "./fields.ts";

const exportSchema = z
  .strictObject({
    kind: z.enum(["file", "syslog", "otlp"]).meta({
      description: "The destination: a file of JSON Lines, a syslog receiver (RFC 5424), or OpenTelemetry over HTTP.",
    }),
    path: nonEmptyString
      .optional()
      .meta({ description: "For file: the path, relative to the folder of this configuration." }),
    url: z
      .string()
      .refine(isExportUrl, "expected tcp:// or udp:// with host and port, or an http or https URL without user name")
      .optional()
      .meta({ description: "For syslog: tcp://host:port or udp://host:port. For otlp: the URL for logs." }),
    headers: z
      .record(z.string(), string)
      .optional()
      .meta({ description: "For otlp: request headers; may contain ${secret:NAME}." }),
  })
  .meta({ description: "One destination for every record." });

/** What a record contains, and where it is sent in addition to the store. */
export const auditSchema = z
  .strictObject({
    previews: z.boolean().default(false).meta({
      description: "Keep the beginning of arguments and results in the ledger, not only their digests.",
    }),
    export: z
      .array(exportSchema)
      .max(10)
      .default([])
      .meta({ description: "Destinations that receive every new record." }),
  })
  .prefault({})
  .meta({ description: "What records contain, and where they are sent in addition to the store." });

/** Which records the ledger deletes. */
export const ledgerSchema = z
  .strictObject({
    retention: z
      .strictObject({
        days: z.int().min(1).max(36_500).optional().meta({ description: "Delete records older than this." }),
        records: z
          .int()
          .min(1)
          .max(1_000_000_000)
          .optional()
          .meta({ description: "Keep this many of the newest records and delete older ones." }),
      })
      .prefault({})
      .meta({ description: "Which records are deleted, up to a signed checkpoint. Default: none." }),
  })
  .prefault({})
  .meta({ description: "How long records are kept." });
