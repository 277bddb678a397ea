/** What the answers of several routes contain. */

import * as z from "zod/mini";

export const effect = z.enum(["read", "write", "destroy", "unknown"]);
export const isolation = z.enum(["strict", "confined", "process"]);
export const place = z.object({ line: z.number(), column: z.number() });
export const list = <Item extends z.ZodMiniType>(item: Item) => z.readonly(z.array(item));
export const finding = z.object({
  rule: z.string(),
  severity: z.enum(["error", "warn", "info"]),
  message: z.string(),
  line: z.number(),
  column: z.number(),
});

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

/** What a program can call, before it runs. */
export const callPlan = z.object({
  exact: z.boolean(),
  calls: list(
    z.object({
      tool: z.string(),
      effect,
      access: z.enum(["literal", "computed"]),
      times: z.enum(["once", "many"]),
      when: z.enum(["always", "maybe"]),
      args: z.optional(list(z.record(z.string(), z.unknown()))),
      at: list(place),
    }),
  ),
  start: z.optional(list(z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()) }))),
});
