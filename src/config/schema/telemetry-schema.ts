/** Schema of telemetry: metrics, traces and anomalies. All of them are off by default. */

import { z } from "zod";

import { isHttpUrl } from "../formats.ts";
import { flag, optional } from "./fields.ts";

const WITHOUT_LOGIN = "expected an http or https URL without user name and password";

/** Where a webhook of the operator is. */
export const webhookUrl = z.string().refine(isHttpUrl, WITHOUT_LOGIN);

export const metricsSchema = z
  .strictObject({ enabled: flag(false, "Serve Prometheus metrics at `/metrics` of `glovebox serve`.") })
  .prefault({})
  .describe("Prometheus metrics.");

export const tracesSchema = z
  .strictObject({
    enabled: flag(false, "Send a span for every execution and every call."),
    endpoint: optional(
      z.string().refine(isHttpUrl, `${WITHOUT_LOGIN} (use headers for those)`),
      "The URL of an OTLP collector over HTTP; `/v1/traces` is appended.",
    ),
    headers: optional(z.record(z.string(), z.string()), "Headers for endpoint; may contain ${secret:NAME}."),
  })
  .prefault({})
  .describe("OpenTelemetry traces.");

const webhookSchema = z.strictObject({
  url: webhookUrl.describe("The URL that receives every anomaly as a signed POST request."),
  secret: z.string().min(1).describe("The signing key, as ${secret:NAME}."),
});

export const anomaliesSchema = z
  .strictObject({
    enabled: flag(false, "Compare the activity of principals with their usual activity, and record anomalies."),
    webhook: optional(webhookSchema, "A webhook for anomalies."),
  })
  .prefault({})
  .describe("Anomaly detection.");
