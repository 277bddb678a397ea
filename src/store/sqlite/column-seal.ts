/** Seals the columns that hold what programs returned, logged and kept. Each value opens in its own row and column only. */

import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionId, ResultId } from "../../domain/index.ts";
import type { Store } from "../store.ts";

type Unlock = Store["unlock"];

export type ColumnSeal = ReturnType<typeof createColumnSeal>;

/** Locked until `unlock` is called: using it before throws STORE_UNAVAILABLE. */
export function createColumnSeal() {
  let seal: Parameters<Unlock>[0] | undefined;
  const unlocked = (): Parameters<Unlock>[0] => {
    if (seal) return seal;
    throw new GloveboxError("STORE_UNAVAILABLE", "The results in this store are sealed, and its key is not open", {
      hint: "Open the vault before results are used",
    });
  };
  const unlock: Unlock = (opened) => void (seal = opened);
  return {
    unlock,
    closeResult: (id: ExecutionId, result: string): Uint8Array => unlocked().close(result, `execution:${id}:result`),
    openResult: (id: ExecutionId, sealed: Uint8Array): string => unlocked().open(sealed, `execution:${id}:result`),
    closeShape: (id: ResultId, shape: string): Uint8Array => unlocked().close(shape, `result:${id}:shape`),
    openShape: (id: ResultId, sealed: Uint8Array): string => unlocked().open(sealed, `result:${id}:shape`),
    closeBody: (id: ResultId, body: Uint8Array): Uint8Array => unlocked().close(body, `result:${id}:body`),
    closePart: (id: ResultId, part: number, body: Uint8Array): Uint8Array =>
      unlocked().close(body, `result:${id}:body:${part}`),
    openPart: (id: ResultId, part: number, sealed: Uint8Array): Uint8Array =>
      unlocked().openBytes(sealed, `result:${id}:body:${part}`),
    openBody: (id: ResultId, sealed: Uint8Array): Uint8Array => unlocked().openBytes(sealed, `result:${id}:body`),
  };
}
