/** Signs what goes to a webhook, as Standard Webhooks describes it, so that receivers can use a library they have. */

import { createHmac } from "node:crypto";

const PREFIX = "whsec_";

export interface WebhookMessage {
  readonly id: string;
  /** Seconds since the epoch: a receiver refuses what is too old. */
  readonly timestamp: number;
  readonly body: string;
}

/** The three headers; the time is under the signature, so an old message cannot be sent again as a new one. */
export function signMessage({ id, timestamp, body }: WebhookMessage, secret: string): Readonly<Record<string, string>> {
  const signature = createHmac("sha256", toKey(secret)).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${signature}` };
}

/** `whsec_` stands before base64; any other secret is taken as it is. */
function toKey(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret);
}
