/** The part of the schema that says where requests may go, and the settings that it becomes. */

import { z } from "zod";

import { GloveboxError, readHostPattern, readHostPort } from "../domain/index.ts";
import type { NetworkPolicy, Read } from "../domain/index.ts";
import { isProxyUrl } from "./formats.ts";

/** A text that `read` understands; what is wrong with any other is said in its own words. */
export function readable(read: (text: string) => Read<unknown>) {
  return z.string().superRefine((text, context) => {
    const result = read(text);
    if (!result.ok) context.addIssue({ code: "custom", message: result.expected });
  });
}

const MAX_ENTRIES = 1000;

export const networkPolicySchema = z
  .strictObject({
    mode: z.enum(["blocked", "allowed", "unrestricted"]).default("blocked").meta({
      description:
        "blocked: programs have no fetch. allowed: the hosts that are named here. unrestricted: every public host, and only if the command line says so too.",
    }),
    domains: z
      .array(readable(readHostPattern))
      .max(MAX_ENTRIES)
      .optional()
      .meta({ description: 'With allowed: "host", "host:port" or "*.domain". Only public addresses are reached.' }),
    grants: z
      .array(readable(readHostPort))
      .max(MAX_ENTRIES)
      .optional()
      .meta({ description: 'With allowed or unrestricted: "host:port" that may also lie in a private network.' }),
  })
  .prefault({})
  .meta({ description: "Where programs may send requests with fetch." });

export const egressSchema = z
  .strictObject({
    proxy: z
      .string()
      .refine(isProxyUrl, 'expected the address of an http proxy, as in "http://proxy.example:3128"')
      .optional()
      .meta({ description: "An http proxy for every request to a public address; it must allow CONNECT." }),
  })
  .prefault({})
  .meta({ description: "How requests leave this machine." });

/** A network policy as a person writes it. */
export type WrittenNetworkPolicy = z.input<typeof networkPolicySchema>;

/** For a policy that comes with a request instead of the configuration. Throws `REQUEST_INVALID`. */
export function parseNetworkPolicy(written: unknown): NetworkPolicy {
  const parsed = networkPolicySchema.safeParse(written);
  if (parsed.success) return toNetworkPolicy(parsed.data);
  const [issue] = parsed.error.issues;
  const place = ["networkPolicy", ...(issue?.path ?? [])].join(".");
  throw new GloveboxError("REQUEST_INVALID", `${place}: ${issue?.message ?? "not a network policy"}`, {
    hint: 'Write it as in the configuration, for example { mode: "allowed", domains: ["api.example.com"] }',
  });
}

/** A policy that passed the schema and the rules that join its keys. */
export function toNetworkPolicy(checked: z.output<typeof networkPolicySchema>): NetworkPolicy {
  const { mode, domains = [], grants: places = [] } = checked;
  if (mode === "blocked") return { mode };
  const grants = places.map((text) => valueOf(readHostPort(text)));
  return mode === "unrestricted"
    ? { mode, grants }
    : { mode, hosts: domains.map((text) => valueOf(readHostPattern(text))), grants };
}

/** What a text that the schema accepted means. */
export function valueOf<Value>(result: Read<Value>): Value {
  if (!result.ok) throw new TypeError("A host of the configuration was not checked");
  return result.value;
}
