/** Schema of telemetry: metrics, traces and anomalies. All of them are off by default. */

import { z } from "zod";

import { isHttpUrl } from "../formats.ts";

/** Metrics for Prometheus. */
export const metricsSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .meta({ description: "Serve Prometheus metrics at `/metrics` of `glovebox serve`." }),
  })
  .prefault({})
  .meta({ description: "Prometheus metrics." });

/** Spans for an OTLP collector. */
export const tracesSchema = z
  .strictObject({
    enabled: z.boolean().default(false).meta({ description: "Send a span for every execution and every call." }),
    endpoint: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password (use headers for those)")
      .optional()
      .meta({ description: "The URL of an OTLP collector over HTTP; `/v1/traces` is appended." }),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: "Headers for endpoint; may contain ${secret:NAME}." }),
  })
  .prefault({})
  .meta({ description: "OpenTelemetry traces." });

const webhookSchema = z
  .strictObject({
    url: z
      .string()
      .refine(isHttpUrl, "expected an http or https URL without user name and password")
      .meta({ description: "The URL that receives every anomaly as a signed POST request." }),
    secret: z.string().min(1).meta({ description: "The signing key, as ${secret:NAME}." }),
  })
  .optional()
  .meta({ description: "A webhook for anomalies." });

/** Anomaly detection. */
export const anomaliesSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .meta({ description: "Compare the activity of principals with their usual activity, and record anomalies." }),
    webhook: webhookSchema,
  })
  .prefault({})
  .meta({ description: "Anomaly detection." });
