/** The signature of webhooks. How they are sent is tested with what they send: anomalies, and waiting approvals. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { signMessage } from "./open-webhook.ts";

test("signMessage depends on the time, the body and the secret", () => {
  const message = { id: "anomaly-1", timestamp: 1, body: "{}" };
  const sign = (more: object, secret = "s"): string | undefined =>
    signMessage({ ...message, ...more }, secret)["webhook-signature"];
  const all = [sign({}), sign({ timestamp: 2 }), sign({ body: "[]" }), sign({ id: "anomaly-2" }), sign({}, "t")];
  assert.equal(new Set(all).size, 5);
  assert.equal(signMessage(message, undefined)["webhook-signature"], undefined);
  assert.equal(sign({}, `whsec_${Buffer.from("s").toString("base64")}`), sign({}));
});
