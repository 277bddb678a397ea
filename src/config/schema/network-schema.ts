/** Schema of network policies and `egress`, and the settings they become. */

import { z } from "zod";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { NetworkPolicy, UpstreamNetwork } from "../../domain/index.ts";
import { isProxyUrl } from "../formats.ts";
import { readHostPattern, readHostPort } from "./values/host-pattern.ts";
import type { HostReading } from "./values/host-pattern.ts";

/** A string that `read` accepts; for others, `read` provides the message. */
export function readable(read: (text: string) => HostReading<unknown>) {
  return z.string().superRefine((text, context) => {
    const result = read(text);
    if (!result.ok) context.addIssue({ code: "custom", message: result.expected });
  });
}

const MAX_ENTRIES = 1000;

const policySchema = z.strictObject({
  mode: z.enum(["blocked", "allowed", "unrestricted"]).default("blocked").meta({
    description:
      "blocked: no requests. allowed: only the listed hosts. unrestricted: every public host, and only with the matching command line flag.",
  }),
  domains: z
    .array(readable(readHostPattern))
    .max(MAX_ENTRIES)
    .optional()
    .meta({ description: 'For allowed: "host", "host:port" or "*.domain". Only public addresses are reached.' }),
  grants: z
    .array(readable(readHostPort))
    .max(MAX_ENTRIES)
    .optional()
    .meta({ description: 'For allowed or unrestricted: "host:port" that may also be in a private network.' }),
});

export const networkPolicySchema = policySchema
  .prefault({})
  .meta({ description: "Where programs may send requests with fetch." });

/** An optional policy. */
function optionalPolicy(description: string) {
  return policySchema.optional().meta({ description });
}

/** For one MCP server that is reached over HTTP. */
export const serverPolicySchema = optionalPolicy(
  "Where requests to this server and their redirects may go. It must include the server's own address. Default: only that address.",
);

/** For one API or adapter, and for single tools of it. */
export const upstreamPolicySchemas = {
  networkPolicy: optionalPolicy(
    "Where its requests and their redirects may go. For an API it must include the API's own address, which is the default. For an adapter it limits `fetch` of its tools, and the default is nothing.",
  ),
  tools: z
    .record(
      z.string().min(1),
      z.strictObject({
        networkPolicy: policySchema.meta({
          description: "Where requests of these tools may go, if the upstream's policy allows it too.",
        }),
      }),
    )
    .optional()
    .meta({ description: 'Settings for single tools, by name or pattern such as "list*".' }),
};

export const egressSchema = z
  .strictObject({
    proxy: z
      .string()
      .refine(isProxyUrl, 'expected the URL of an http proxy, such as "http://proxy.example:3128"')
      .optional()
      .meta({ description: "An http proxy for every request to a public address; it must allow CONNECT." }),
    proxyUser: z
      .string()
      .refine((text) => /^[^:\p{Cc}]+$/u.test(text), "expected a user name without colons and control characters")
      .optional()
      .meta({ description: "The user name for the proxy, if it requires a login." }),
    proxyPassword: z
      .string()
      .optional()
      .meta({ description: "The password for proxyUser: exactly one ${secret:NAME} or ${VARIABLE}." }),
    networkPolicy: optionalPolicy(
      "A limit on all requests of this gateway: of programs, upstreams, logins and exports. Default: no additional limit.",
    ),
  })
  .prefault({})
  .meta({ description: "How this gateway sends requests." });

/** A network policy before it is checked. */
export type WrittenNetworkPolicy = z.input<typeof networkPolicySchema>;

/** Parses a policy of a request. Throws `REQUEST_INVALID`. */
export function parseNetworkPolicy(written: unknown): NetworkPolicy {
  const parsed = networkPolicySchema.safeParse(written);
  if (parsed.success) return toNetworkPolicy(parsed.data);
  const [issue] = parsed.error.issues;
  const place = ["networkPolicy", ...(issue?.path ?? [])].join(".");
  throw new GloveboxError("REQUEST_INVALID", `${place}: ${issue?.message ?? "not a network policy"}`, {
    hint: 'Use the format of the configuration, for example { mode: "allowed", domains: ["api.example.com"] }',
  });
}

/** Converts a policy that passed the schema and `checkNetworkPolicies`. */
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

/** Converts the policies of one entry; `path` is its key, such as `openapi.github`. */
export function toUpstreamNetwork({ networkPolicy, tools = {} }: CheckedNetwork, path: string): UpstreamNetwork {
  return {
    ...defined({ policy: networkPolicy && toNetworkPolicy(networkPolicy, `${path}.networkPolicy`) }),
    tools: Object.entries(tools).map(([pattern, tool]) => ({
      pattern,
      policy: toNetworkPolicy(tool.networkPolicy, `${path}.tools.${pattern}.networkPolicy`),
    })),
  };
}

/** Returns the value of a string that the schema accepted. */
export function valueOf<Value>(result: HostReading<Value>): Value {
  if (!result.ok) throw new TypeError("A host of the configuration was not checked");
  return result.value;
}
