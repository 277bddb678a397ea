/** Measures what the checks of a request cost, compared with the platform's own fetch (undici) to the same server. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { openEgress } from "../src/egress/index.ts";
import { createNetwork } from "../src/egress/network.ts";
import { ms, print, time } from "./measure.ts";

const COUNT = 2000;
const LIMITS = { maxBytes: 1_000_000, totalMs: 5_000, idleMs: 5_000 };

export async function benchEgress(): Promise<void> {
  console.log("\nEgress");
  const server = createServer((_, response) => void response.end(JSON.stringify({ items: "x".repeat(1000) })));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  // A host name, so that resolving is included; the resolver answers immediately, as a cache would.
  const network = { ...createNetwork(), resolve: async () => ["127.0.0.1"] };
  await using egress = openEgress({ network });
  const policies = [{ mode: "allowed", hosts: [], grants: [{ host: "bench.local", port }] }] as const;
  const request = { method: "GET", headers: [], body: undefined, signal: new AbortController().signal };
  const checked = () => egress.fetchFor(policies, { ...request, url: `http://bench.local:${port}/` }, LIMITS);
  const plain = async () => (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
  await time(200, plain);
  await time(200, checked);
  const [yardstick, ours] = [await time(COUNT, plain), await time(COUNT, checked)];
  print("one request with the platform's fetch, p50", ms(yardstick.p50));
  print("one request through egress, p50", ms(ours.p50), `${(ours.p50 / yardstick.p50).toFixed(2)} x of it`);
  server.close().closeAllConnections();
}

if (import.meta.main) await benchEgress();
