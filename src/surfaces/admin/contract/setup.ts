/** How clients are connected, and whether one has made a real call. */

import * as z from "zod/mini";

import { list } from "./base.ts";

/**
 * `GET /api/setup`. `call` is the latest successful call of a tool by the program of a client: neither people nor programs
 * that embed Glovebox count.
 */
export const setupSchema = z.object({
  /** The address for clients over HTTP. */
  mcp: z.string(),
  /** True if clients over HTTP log in. */
  needsLogin: z.boolean(),
  /** Each client that Glovebox knows, with what belongs into its file. */
  clients: list(
    z.object({
      id: z.string(),
      title: z.string(),
      file: z.string(),
      format: z.enum(["json", "toml", "yaml"]),
      entry: z.string(),
    }),
  ),
  /** Agents that ran a program lately. */
  agents: list(z.object({ principal: z.string(), executions: z.number(), latestAt: z.number() })),
  call: z.optional(z.object({ execution: z.string(), principal: z.string(), tool: z.string(), at: z.number() })),
});

export type SetupAnswer = z.infer<typeof setupSchema>;
