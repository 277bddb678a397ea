/** What the network policies of upstreams, of their tools and of the whole gateway change, observed on loopback. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openFakeApi } from "../../src/connectors/openapi/fixtures/fake-api.ts";
import { defineAdapter } from "../../src/main.ts";
import { compare, run, startUpstream, withGlovebox } from "../fixtures/observe-settings.ts";
import type { Observation } from "../fixtures/observe-settings.ts";

/** No resolver can resolve it, so nothing leaves this machine: a label has at most 63 characters. */
const NOWHERE = `${"x".repeat(64)}.example`;

type Policy = object;
type Observations = Readonly<Record<string, () => Promise<void>>>;

/** An upstream at `url` whose only tool makes one request there, in a configuration with the policy. */
interface Kind {
  readonly toConfig: (url: string, policy: Policy) => unknown;
  /** The outcome of the request. */
  readonly observe: Observation;
  readonly reached: unknown;
}

/** With all three keys of a policy: `mode` and `grants` against a server on loopback, `domains` against none. */
function observePolicy(path: string, { toConfig, observe, reached }: Kind, open: () => Promise<Opened>): Observations {
  const compareAt =
    (make: (place: string) => readonly [Policy, Policy]): (() => Promise<void>) =>
    async () => {
      const { url, close } = await open();
      const [refused, granted] = make(new URL(url).host).map((policy) => toConfig(url, policy));
      await compare(observe, [refused, "EGRESS_DENIED"], [granted, reached])().finally(close);
    };
  const far = (domain: string): unknown => toConfig(`http://${NOWHERE}/`, { mode: "allowed", domains: [domain] });
  return {
    [`${path}.networkPolicy.mode`]: compareAt((place) => [{ mode: "blocked" }, { mode: "allowed", grants: [place] }]),
    [`${path}.networkPolicy.grants`]: compareAt((place) => [
      { mode: "allowed", grants: ["127.0.0.1:1"] },
      { mode: "allowed", grants: [place] },
    ]),
    [`${path}.networkPolicy.domains`]: compare(
      observe,
      [far("other.example"), "EGRESS_DENIED"],
      [far(NOWHERE), "UPSTREAM_UNREACHABLE"],
    ),
  };
}

interface Opened {
  readonly url: string;
  readonly close: () => void | Promise<void>;
}

async function openApi(): Promise<Opened> {
  const api = await openFakeApi();
  return { url: `${api.origin}/`, close: async () => api[Symbol.asyncDispose]() };
}

/** The error code of the upstream itself, or the result of its tool. */
const CALL_SERVER = "return (await http.about({})).name";
const serverOutcome: Observation = (config) =>
  withGlovebox(config, async (glovebox) => {
    const { value, error } = await glovebox.execute({ code: CALL_SERVER });
    if (!error) return value;
    const [server] = (await glovebox.search({})).servers;
    return /network policy/.test(server?.cause ?? "") ? "EGRESS_DENIED" : "UPSTREAM_UNREACHABLE";
  });

/** A document in a folder that is removed afterwards. */
function withDocument(observe: Observation): Observation {
  return async (config) => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-policies-"));
    const document = join(folder, "api.json");
    const get = { operationId: "go", responses: { 200: { description: "ok" } } };
    writeFileSync(document, JSON.stringify({ openapi: "3.1.0", paths: { "/go": { get } } }));
    const { openapi } = config as { readonly openapi: { readonly api: object } };
    return observe({ mcpServers: {}, openapi: { api: { ...openapi.api, document } } }).finally(() =>
      rmSync(folder, { recursive: true, force: true }),
    );
  };
}

const callApi = withDocument(run("return (await api.go({})).url"));
const callAdapter = run("return await desk.go({})");

function adapterAt(url: string, more: object): unknown {
  const go = {
    description: "Goes.",
    input: { type: "object" },
    run: async (_: object, { fetch }: { readonly fetch: (to: string) => Promise<Response> }) =>
      (await fetch(`${url}go`)).status,
  } as const;
  return { mcpServers: {}, adapters: [{ module: defineAdapter({ name: "desk", tools: { go } }), ...more }] };
}

const apiAt = (baseUrl: string, more: object): unknown => ({ openapi: { api: { baseUrl, ...more } } });

/** Keyed by setting path. */
export const UPSTREAM_NETWORK_OBSERVATIONS: Observations = {
  ...observePolicy(
    "egress",
    {
      toConfig: (url, networkPolicy) => ({ mcpServers: { http: { url } }, egress: { networkPolicy } }),
      observe: serverOutcome,
      reached: "one",
    },
    () => startUpstream("one"),
  ),
  ...observePolicy(
    "mcpServers.*",
    {
      toConfig: (url, networkPolicy) => ({ mcpServers: { http: { url, networkPolicy } } }),
      observe: serverOutcome,
      reached: "one",
    },
    () => startUpstream("one"),
  ),
  ...observePolicy(
    "openapi.*",
    { toConfig: (url, networkPolicy) => apiAt(url, { networkPolicy }), observe: callApi, reached: "/go" },
    openApi,
  ),
  ...observePolicy(
    "openapi.*.tools.*",
    {
      toConfig: (url, networkPolicy) => apiAt(url, { tools: { go: { networkPolicy } } }),
      observe: callApi,
      reached: "/go",
    },
    openApi,
  ),
  ...observePolicy(
    "adapters[]",
    { toConfig: (url, networkPolicy) => adapterAt(url, { networkPolicy }), observe: callAdapter, reached: 200 },
    openApi,
  ),
  ...observePolicy(
    "adapters[].tools.*",
    {
      toConfig: (url, networkPolicy) => adapterAt(url, { tools: { go: { networkPolicy } } }),
      observe: callAdapter,
      reached: 200,
    },
    openApi,
  ),
};
