/** The part of the schema that says where requests may go, and the settings that it becomes. */

import { z } from "zod";

import { GloveboxError } from "../../domain/index.ts";
import type { NetworkPolicy, UpstreamNetwork } from "../../domain/index.ts";
import { isProxyUrl } from "../formats.ts";
import { readHostPattern, readHostPort } from "./values/host-pattern.ts";
import type { ReadResult } from "./values/host-pattern.ts";

/** A text that `read` understands; what is wrong with any other is said in its own words. */
export function readable(read: (text: string) => ReadResult<unknown>) {
  return z.string().superRefine((text, context) => {
    const result = read(text);
    if (!result.ok) context.addIssue({ code: "custom", message: result.expected });
  });
}

const MAX_ENTRIES = 1000;

const policySchema = z.strictObject({
  mode: z.enum(["blocked", "allowed", "unrestricted"]).default("blocked").meta({
    description:
      "blocked: nothing leaves. allowed: the hosts that are named here. unrestricted: every public host, and only if the command line says so too.",
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
});

export const networkPolicySchema = policySchema
  .prefault({})
  .meta({ description: "Where programs may send requests with fetch." });

/** A policy that there need not be. */
function optionalPolicy(description: string) {
  return policySchema.optional().meta({ description });
}

/** For one upstream that is reached over HTTP. */
export const serverPolicySchema = optionalPolicy(
  "Where requests to this server and their redirects may go, its own address included. Left out, to its own address only.",
);

/** For one API or adapter, and for single tools of it. */
export const upstreamPolicySchemas = {
  networkPolicy: optionalPolicy(
    "Where its requests and their redirects may go: for an API with its own address included, and left out that alone; for an adapter what `fetch` of a tool may reach, and left out nothing.",
  ),
  tools: z
    .record(
      z.string().min(1),
      z.strictObject({
        networkPolicy: policySchema.meta({
          description: "Where requests of these tools may go, if the upstream may go there too.",
        }),
      }),
    )
    .optional()
    .meta({ description: 'More about single tools, by name or pattern such as "list*".' }),
};

export const egressSchema = z
  .strictObject({
    proxy: z
      .string()
      .refine(isProxyUrl, 'expected the address of an http proxy, as in "http://proxy.example:3128"')
      .optional()
      .meta({ description: "An http proxy for every request to a public address; it must allow CONNECT." }),
    proxyUser: z
      .string()
      .refine((text) => /^[^:\p{Cc}]+$/u.test(text), "expected a user name without colon and control characters")
      .optional()
      .meta({ description: "Who you are to the proxy, if it asks." }),
    proxyPassword: z
      .string()
      .optional()
      .meta({ description: "The password for proxyUser: ${secret:NAME} or ${VARIABLE}, and nothing else." }),
    networkPolicy: optionalPolicy(
      "Where any request of this gateway may go, of programs, upstreams, logins and reports alike. Left out, what each of them may reach.",
    ),
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
export function toNetworkPolicy(checked: z.output<typeof policySchema>, setting?: string): NetworkPolicy {
  const { mode, domains = [], grants: places = [] } = checked;
  const place = setting === undefined ? {} : { setting };
  if (mode === "blocked") return { mode, ...place };
  const grants = places.map((text) => valueOf(readHostPort(text)));
  return mode === "unrestricted"
    ? { mode, grants, ...place }
    : { mode, hosts: domains.map((text) => valueOf(readHostPattern(text))), grants, ...place };
}

interface CheckedNetwork {
  readonly networkPolicy?: z.output<typeof policySchema> | undefined;
  readonly tools?: z.output<typeof upstreamPolicySchemas.tools>;
}

/** The policies of one entry; `path` is where that stands, as in `openapi.github`. */
export function toUpstreamNetwork({ networkPolicy, tools = {} }: CheckedNetwork, path: string): UpstreamNetwork {
  return {
    ...(networkPolicy && { policy: toNetworkPolicy(networkPolicy, `${path}.networkPolicy`) }),
    tools: Object.entries(tools).map(([pattern, tool]) => ({
      pattern,
      policy: toNetworkPolicy(tool.networkPolicy, `${path}.tools.${pattern}.networkPolicy`),
    })),
  };
}

/** What a text that the schema accepted means. */
export function valueOf<Value>(result: ReadResult<Value>): Value {
  if (!result.ok) throw new TypeError("A host of the configuration was not checked");
  return result.value;
}
