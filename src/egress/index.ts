/** The front door of `egress`: the only way out to the network. */

export { openEgress } from "./egress.ts";
export type { Egress, FetchLike } from "./egress.ts";
export type { ProxiedRequest, ServerProxy } from "./server-proxy.ts";
export type { GuestAnswer, GuestRequest } from "./fetch-for-guest.ts";
export { openWebhook } from "./open-webhook.ts";
export type { Webhook, WebhookMessage, WebhookOptions } from "./open-webhook.ts";
export { openMessageLine } from "./open-message-line.ts";
