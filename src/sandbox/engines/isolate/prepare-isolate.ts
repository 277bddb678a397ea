/** Makes isolates ahead of need: from a snapshot that already holds the guest's code, with the world set up. */

import { createRequire } from "node:module";

import type IsolatedVm from "isolated-vm";

import { GUEST_SOURCE } from "../../guest.generated.ts";
import { parseUrlParts, setUrlPart } from "./url-parts.ts";

const MEGABYTE = 1024 * 1024;
/** The engine refuses less. */
const SMALLEST_MB = 8;

export type Send = (kind: number, id: number, text: string) => void;

/** An isolate in which nothing has run yet. */
export interface Prepared {
  readonly memoryBytes: number;
  readonly isolate: IsolatedVm.Isolate;
  readonly context: IsolatedVm.Context;
  readonly start: IsolatedVm.Reference<(program: unknown, startText: string, atMs: number) => void>;
  readonly deliver: IsolatedVm.Reference<(kind: number, id: number, text: string, atMs: number) => void>;
}

/** Loaded by its path: a confined child has no folder of packages. */
const { ivm } = createRequire(import.meta.url)(process.argv[2] ?? "") as { readonly ivm: typeof IsolatedVm };

let snapshot: IsolatedVm.ExternalCopy<ArrayBuffer> | undefined;

/** `send` is the only host function that the guest holds; it takes and returns nothing but text and numbers. */
export function prepareIsolate(memoryBytes: number, send: Send): Prepared {
  snapshot ??= ivm.Isolate.createSnapshot([{ code: GUEST_SOURCE }]);
  const memoryLimit = Math.max(SMALLEST_MB, Math.ceil(memoryBytes / MEGABYTE));
  const isolate = new ivm.Isolate({ memoryLimit, snapshot });
  const context = isolate.createContextSync();
  const guest: IsolatedVm.Reference<Record<string, unknown>> = context.evalClosureSync(
    "const boot = globalThis.__boot; delete globalThis.__boot; return boot($0, $1, $2);",
    [new ivm.Callback(send), new ivm.Callback(parseUrlParts), new ivm.Callback(setUrlPart)],
    { result: { reference: true } },
  );
  return {
    memoryBytes,
    isolate,
    context,
    start: guest.getSync("start", { reference: true }) as Prepared["start"],
    deliver: guest.getSync("deliver", { reference: true }) as Prepared["deliver"],
  };
}
