/**
 * What the commands of a person ask of a gateway: their own, or one that already runs on the same store with the same
 * settings and has its servers ready. It has a socket in the private folder of the store.
 */

import { dirname, join } from "node:path";

import type { Settings } from "../config/index.ts";
import type { SearchRequest } from "../catalog/index.ts";
import { defined } from "../domain/index.ts";
import type { Limits, Principal } from "../domain/index.ts";
import { digestOf } from "../text/index.ts";
import type { DescribeDetail } from "../typegen/index.ts";
import type { Gateway } from "./gateway.ts";
import { guideQuestions } from "./reach-people.ts";

const SOCKET = "gateway.sock";
/** The kernel refuses sockets with longer paths. */
const MAX_PATH = 100;

export interface NearProgram {
  readonly source: string;
  readonly limits?: Partial<Limits>;
  readonly analysis?: boolean;
  readonly types?: boolean;
  readonly dryRun?: boolean;
  /** `false` blocks the network for this program. */
  readonly network?: boolean;
}

export interface NearGateway {
  search(query: SearchRequest): ReturnType<Gateway["search"]>;
  describe(names: readonly string[], detail: DescribeDetail): ReturnType<Gateway["describe"]>;
  /** The result tells how a person reaches what waits for approval. */
  execute(program: NearProgram, signal?: AbortSignal): ReturnType<Gateway["execute"]>;
  plan(program: NearProgram, signal?: AbortSignal): ReturnType<Gateway["plan"]>;
}

export function createNearGateway(gateway: Gateway, principal: Principal): NearGateway {
  const toInput = ({ network, ...program }: NearProgram, signal: AbortSignal | undefined) => {
    const networkPolicy = network === false ? ({ mode: "blocked" } as const) : undefined;
    return { ...program, principal, ...defined({ signal, networkPolicy }) };
  };
  return {
    search: (query) => gateway.search(principal, query),
    describe: (names, detail) => gateway.describe(principal, names, detail),
    execute: async (program, signal) => {
      const result = await gateway.execute(toInput(program, signal));
      return { ...result, ...(await guideQuestions(result, gateway.people)) };
    },
    plan: (program, signal) => gateway.plan(toInput(program, signal)),
  };
}

/** Where the gateway of a store can be reached, and by whom. */
export interface NearPlace {
  readonly path: string;
  /** A process with the same key would do the same: it has the same version and settings. */
  readonly key: string;
}

/** `undefined` for a store in memory, and where the path would be too long. */
export function findNearPlace(settings: Settings, version: string): NearPlace | undefined {
  const path = join(dirname(settings.store.path), SOCKET);
  if (settings.store.path === ":memory:" || process.platform === "win32" || path.length > MAX_PATH) return undefined;
  const toPlain = (_: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);
  return { path, key: digestOf(JSON.stringify([version, settings], toPlain)) };
}
