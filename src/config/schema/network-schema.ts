/** Schema of network policies and `egress`, and the settings they become. */

import { z } from "zod";

import { GloveboxError, defined } from "../../domain/index.ts";
import type { NetworkPolicy, UpstreamNetwork } from "../../domain/index.ts";
import { isProxyUrl } from "../formats.ts";
import { choice, optional, readable } from "./fields.ts";
import { readAll, readHostPattern, readHostPort } from "./values/host-pattern.ts";

const MAX_ENTRIES = 1000;

const policySchema = z.strictObject({
  mode: choice(
    ["blocked", "allowed", "unrestricted"],
    "blocked: no requests. allowed: only the listed hosts. unrestricted: every public host, and only with the matching command line flag.",
  ),
  domains: optional(
    z.array(readable(readHostPattern)).max(MAX_ENTRIES),
    'For allowed: "host", "host:port" or "*.domain". Only public addresses are reached.',
  ),
  grants: optional(
    z.array(readable(readHostPort)).max(MAX_ENTRIES),
    'For allowed or unrestricted: "host:port" that may also be in a private network.',
  ),
});

export const networkPolicySchema = policySchema.prefault({}).describe("Where programs may send requests with fetch.");

export const serverPolicySchema = optional(
  policySchema,
  "With url: where requests to this server and their redirects may go; it must include the server's own address, which is the default. With confine: where the server may send requests; the default is nowhere.",
);

export const upstreamPolicySchemas = {
  networkPolicy: optional(
    policySchema,
    "Where its requests and their redirects may go. For an API it must include the API's own address, which is the default. For an adapter it limits `fetch` of its tools, and the default is nothing.",
  ),
  tools: optional(
    z.record(
      z.string().min(1),
      z.strictObject({
        networkPolicy: policySchema.describe(
          "Where requests of these tools may go, if the upstream's policy allows it too.",
        ),
      }),
    ),
    'Settings for single tools, by name or pattern such as "list*".',
  ),
};

const USER_NAME = /^[^:\p{Cc}]+$/u;

export const egressSchema = z
  .strictObject({
    proxy: optional(
      z.string().refine(isProxyUrl, 'expected the URL of an http proxy, such as "http://proxy.example:3128"'),
      "An http proxy for every request to a public address; it must allow CONNECT.",
    ),
    proxyUser: optional(
      z.string().refine((text) => USER_NAME.test(text), "expected a user name without colons and control characters"),
      "The user name for the proxy, if it requires a login.",
    ),
    proxyPassword: optional(z.string(), "The password for proxyUser: exactly one ${secret:NAME} or ${VARIABLE}."),
    networkPolicy: optional(
      policySchema,
      "A limit on all requests of this gateway: of programs, upstreams, logins and exports. Default: no additional limit.",
    ),
  })
  .prefault({})
  .describe("How this gateway sends requests.");

export type WrittenNetworkPolicy = z.input<typeof networkPolicySchema>;

/** Parses a policy of a request. Throws `REQUEST_INVALID`. */
export function parseNetworkPolicy(written: unknown): NetworkPolicy {
  const checked = networkPolicySchema.safeParse(written);
  if (checked.success) return toNetworkPolicy(checked.data);
  const [issue] = checked.error.issues;
  const place = ["networkPolicy", ...(issue?.path ?? [])].join(".");
  throw new GloveboxError("REQUEST_INVALID", `${place}: ${issue?.message ?? "not a network policy"}`, {
    hint: 'Use the format of the configuration, for example { mode: "allowed", domains: ["api.example.com"] }',
  });
}

/** Converts a policy that passed the schema and `checkNetworkPolicies`. */
export function toNetworkPolicy(checked: z.output<typeof policySchema>, setting?: string): NetworkPolicy {
  const { mode } = checked;
  const place = defined({ setting });
  if (mode === "blocked") return { mode, ...place };
  const grants = readAll(readHostPort, checked.grants);
  const hosts = readAll(readHostPattern, checked.domains);
  return mode === "unrestricted" ? { mode, grants, ...place } : { mode, hosts, grants, ...place };
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
