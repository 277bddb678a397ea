/** What the answers of several routes contain. */

import * as z from "zod/mini";

export const effect = z.enum(["read", "write", "destroy", "unknown"]);
export const isolation = z.enum(["strict", "confined", "process"]);
export const place = z.object({ line: z.number(), column: z.number() });
export const list = <Item extends z.ZodMiniType>(item: Item) => z.readonly(z.array(item));

export const publicError = z.object({
  code: z.string(),
  message: z.string(),
  retry: z.boolean(),
  hint: z.optional(z.string()),
  line: z.optional(z.number()),
  column: z.optional(z.number()),
  frame: z.optional(z.string()),
});
export const callRecord = {
  seq: z.number(),
  tool: z.string(),
  effect,
  decision: z.enum(["allow", "ask", "deny"]),
  outcome: z.enum(["ok", "error", "denied", "pending", "unknown"]),
};
export const labelSource = z.object({ label: z.string(), tool: z.string(), execution: z.string(), seq: z.number() });
