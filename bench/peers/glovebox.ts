/** Glovebox through its library, with everything on: confinement, analysis, policy, the ledger on disk. */

import { join } from "node:path";

import { createGlovebox } from "../../src/main.ts";
import { expectTwo } from "./peer.ts";
import type { Peer } from "./peer.ts";

export async function openGloveboxPeer(folder: string): Promise<Peer> {
  const glovebox = await createGlovebox({
    quotas: { executionsPerMinute: 1_000_000, executionMsPerHour: 1_000_000_000 },
    store: { url: `sqlite:${join(folder, "glovebox.db")}` },
  });
  return {
    name: "Glovebox (isolate in a confined process, ledger on disk)",
    run: async () => expectTwo((await glovebox.execute({ code: "return 1 + 1" })).value),
    [Symbol.asyncDispose]: () => glovebox.close(),
  };
}
