/** What the network policies of upstreams, of their tools and of the whole gateway change, observed on loopback. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { openFakeApi } from "../../src/connectors/openapi/fixtures/fake-api.ts";
import { defineAdapter } from "../../src/main.ts";
import type { Glovebox } from "../../src/main.ts";
import {
  compare,
  outcomeOf,
  shareGlovebox,
  sideBySide,
  startUpstream,
  withGlovebox,
} from "../fixtures/observe-settings.ts";
import type { EntryPair, Observation } from "../fixtures/observe-settings.ts";

/** No resolver can resolve it, so nothing leaves this machine: a label has at most 63 characters. */
const NOWHERE = `${"x".repeat(64)}.example`;
/** Stands for the host and port of the server on loopback, which are chosen when it opens. */
const PLACE = "place.example";
const DENIED = "EGRESS_DENIED";

/** An upstream at `url` whose only tool makes one request there, with the policy. */
interface Entry {
  readonly url: string;
  readonly policy: object;
}

const near = (policy: object): Entry => ({ url: `http://${PLACE}/`, policy });
const far = (domain: string): Entry => ({ url: `http://${NOWHERE}/`, policy: { mode: "allowed", domains: [domain] } });

/** All three keys of a policy: `mode` and `grants` with a server on loopback, `domains` with none. */
const pairsOf = (observe: EntryPair["observe"], reached: unknown): Readonly<Record<string, EntryPair>> => ({
  "networkPolicy.mode": {
    observe,
    cases: [
      [near({ mode: "blocked" }), DENIED],
      [near({ mode: "allowed", grants: [PLACE] }), reached],
    ],
  },
  "networkPolicy.grants": {
    observe,
    cases: [
      [near({ mode: "allowed", grants: ["127.0.0.1:1"] }), DENIED],
      [near({ mode: "allowed", grants: [PLACE] }), reached],
    ],
  },
  "networkPolicy.domains": {
    observe,
    cases: [
      [far("other.example"), DENIED],
      [far(NOWHERE), "UPSTREAM_UNREACHABLE"],
    ],
  },
});

/** The result of the server's tool, or why the server cannot be reached. */
async function serverOutcome(glovebox: Glovebox, name: string): Promise<unknown> {
  const { value, error } = await glovebox.execute({ code: `return (await ${name}.about({})).name` });
  if (!error) return value;
  const server = (await glovebox.search({})).servers.find((one) => one.name === name);
  return /network policy/.test(server?.cause ?? "") ? DENIED : "UPSTREAM_UNREACHABLE";
}

const callServer: EntryPair["observe"] = async (name) => serverOutcome(await open(), name);
const callApi: EntryPair["observe"] = async (name) =>
  outcomeOf(await (await open()).execute({ code: `return (await ${name}.go({})).url` }));
const callAdapter: EntryPair["observe"] = async (name) =>
  outcomeOf(await (await open()).execute({ code: `return await ${name}.go({})` }));

const servers = sideBySide("mcpServers.*", pairsOf(callServer, "one"));
const apis = sideBySide("openapi.*", pairsOf(callApi, "/go"));
const apiTools = sideBySide("openapi.*.tools.*", pairsOf(callApi, "/go"));
const adapters = sideBySide("adapters[]", pairsOf(callAdapter, 200));
const adapterTools = sideBySide("adapters[].tools.*", pairsOf(callAdapter, 200));

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());

/** Turns every entry into one of the configuration, with the real place. */
function place<Made>(
  entries: Readonly<Record<string, unknown>>,
  host: string,
  make: (entry: Entry, name: string) => Made,
): readonly (readonly [string, Made])[] {
  const placed = JSON.parse(JSON.stringify(entries).replaceAll(PLACE, host)) as Readonly<Record<string, Entry>>;
  return Object.entries(placed).map(([name, entry]) => [name, make(entry, name)]);
}

function writeDocument(): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-policies-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const get = { operationId: "go", responses: { 200: { description: "ok" } } };
  writeFileSync(join(folder, "api.json"), JSON.stringify({ openapi: "3.1.0", paths: { "/go": { get } } }));
  return join(folder, "api.json");
}

function adapterAt(name: string, url: string, more: object): object {
  const go = {
    description: "Goes.",
    input: { type: "object" },
    run: async (_: object, { fetch }: { readonly fetch: (to: string) => Promise<Response> }) =>
      (await fetch(`${url}go`)).status,
  } as const;
  return { module: defineAdapter({ name, tools: { go } }), ...more };
}

/** One gateway has all upstreams. */
const open = shareGlovebox(async () => {
  const server = stack.adopt(await startUpstream("one"), ({ close }) => close());
  const api = stack.use(await openFakeApi());
  const [serverHost, apiHost] = [new URL(server.url).host, new URL(api.origin).host];
  const document = writeDocument();
  return {
    mcpServers: Object.fromEntries(
      place(servers.entries, serverHost, ({ url, policy }) => ({ url, networkPolicy: policy })),
    ),
    openapi: Object.fromEntries([
      ...place(apis.entries, apiHost, ({ url, policy }) => ({ document, baseUrl: url, networkPolicy: policy })),
      ...place(apiTools.entries, apiHost, ({ url, policy }) => ({
        document,
        baseUrl: url,
        tools: { go: { networkPolicy: policy } },
      })),
    ]),
    adapters: [
      ...place(adapters.entries, apiHost, ({ url, policy }, name) => adapterAt(name, url, { networkPolicy: policy })),
      ...place(adapterTools.entries, apiHost, ({ url, policy }, name) =>
        adapterAt(name, url, { tools: { go: { networkPolicy: policy } } }),
      ),
    ].map(([, adapter]) => adapter),
  };
});

/** The policy of the whole gateway: each value needs a gateway of its own. */
const inGateway: Observation = async (entry) => {
  const server = await startUpstream("one");
  try {
    const [[, whole] = [] as const] = place({ http: entry }, new URL(server.url).host, ({ url, policy }) => ({
      mcpServers: { http: { url } },
      egress: { networkPolicy: policy },
    }));
    return await withGlovebox(whole, (glovebox) => serverOutcome(glovebox, "http"));
  } finally {
    server.close();
  }
};

const gatewayObservations = Object.fromEntries(
  Object.entries(pairsOf(callServer, "one")).map(([setting, { cases }]) => [
    `egress.${setting}`,
    compare(inGateway, ...cases),
  ]),
);

/** Keyed by setting path. */
export const UPSTREAM_NETWORK_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  ...gatewayObservations,
  ...servers.observations,
  ...apis.observations,
  ...apiTools.observations,
  ...adapters.observations,
  ...adapterTools.observations,
};
