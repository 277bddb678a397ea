/** The door of anomalies: loaded only when they are on. */

export { createWebhook } from "./create-webhook.ts";
export type { Webhook, WebhookOptions } from "./create-webhook.ts";
export { openAnomalies } from "./open-anomalies.ts";
export type { Anomalies, AnomaliesOptions } from "./open-anomalies.ts";
