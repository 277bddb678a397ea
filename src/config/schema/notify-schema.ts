/** Schema of `approvals.notify`: who is told that a call waits. */

import { z } from "zod";

import { choice, flag, optional } from "./fields.ts";
import { webhookUrl } from "./telemetry-schema.ts";

const webhookSchema = z.strictObject({
  url: webhookUrl.describe("The URL that receives a POST request for every call that waits, without its arguments."),
  secret: optional(z.string().min(1), "The signing key, as ${secret:NAME}; without it requests are not signed."),
  format: choice(["json", "slack"], "`slack` sends one text, as incoming webhooks of Slack expect it."),
});

export const notifySchema = z
  .strictObject({
    webhook: optional(webhookSchema, "A webhook for calls that wait."),
    desktop: flag(false, "Show a notification on this desktop, with notify-send or osascript."),
  })
  .prefault({})
  .describe("Who is told that a call waits for approval, or a server for input.");
