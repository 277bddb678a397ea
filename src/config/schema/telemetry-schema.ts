/** The shape of what watches the gateway. All of it is off unless it is turned on. */

import { z } from "zod";

import { isHttpUrl } from "../formats.ts";

/** Numbers for Prometheus. */
export const metricsSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .meta({ description: "Serve numbers for Prometheus at `/metrics` of `glovebox serve`." }),
  })
  .prefault({})
  .meta({ description: "Numbers for Prometheus." });

/** Spans for a collector that speaks OTLP. */
export const tracesSchema = z
  .strictObject({
    enabled: z.boolean().default(false).meta({ description: "Send a span for every execution and every call." }),
    endpoint: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use headers for those)")
      .optional()
      .meta({ description: "Where a collector takes OTLP over HTTP; `/v1/traces` is added." }),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: "Sent to endpoint; may hold ${secret:NAME}." }),
  })
  .prefault({})
  .meta({ description: "Spans for a collector that speaks OTLP." });

const webhookSchema = z
  .strictObject({
    url: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password")
      .meta({ description: "Where every anomaly is sent, as a signed POST." }),
    secret: z.string().min(1).meta({ description: "What signs it, as ${secret:NAME}." }),
  })
  .optional()
  .meta({ description: "Who is told." });

/** What is unusual. */
export const anomaliesSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .meta({ description: "Compare what principals do with what they usually do, and record what is unusual." }),
    webhook: webhookSchema,
  })
  .prefault({})
  .meta({ description: "What is unusual." });
