/**
 * How gateways that run with a key of their environment get the next one: for some seconds the next key is in the
 * store, sealed with the former. Nobody but a holder of the former key can open it, and only that makes one.
 */

import { isJsonObject } from "../domain/index.ts";
import type { Instant } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

import { decryptWithNonce, encryptWithNonce } from "./cipher.ts";
import type { Random } from "./cipher.ts";
import type { MasterKey } from "./seal.ts";

/** Where it is in `store.meta`. */
const HAND_OVER = "vault.handover";

type Meta = Pick<Store["meta"], "get" | "set" | "erase">;

interface HandOver {
  readonly to: string;
  readonly until: Instant;
  readonly sealed: string;
}

/** Leaves the key `to` for those who have `from`. */
export async function offerKey(
  meta: Meta,
  keys: { readonly from: MasterKey; readonly to: MasterKey },
  { random, until }: { readonly random: Random; readonly until: Instant },
): Promise<void> {
  const { from, to } = keys;
  const data = bind(from.check, to.check);
  const sealed = Buffer.from(encryptWithNonce(to.wrapping, { key: from.wrapping, data, random })).toString("base64");
  const offer: HandOver = { to: to.check, until, sealed };
  await meta.set(HAND_OVER, JSON.stringify(offer));
}

/** The key with this check value, if one that is held opens what was left. */
export async function takeKey(meta: Meta, check: string, held: readonly MasterKey[]): Promise<MasterKey | undefined> {
  const offer = parseHandOver(await meta.get(HAND_OVER));
  if (offer?.to !== check) return undefined;
  return held.map((key) => open(offer, key)).find((key) => key !== undefined);
}

/** Erases what was left: at once, or only what is out of date. */
export async function withdrawKey(meta: Meta, now?: Instant): Promise<void> {
  const offer = parseHandOver(await meta.get(HAND_OVER));
  if (!offer || (now !== undefined && now <= offer.until)) return;
  await meta.erase(HAND_OVER);
}

function open({ to, sealed }: HandOver, key: MasterKey): MasterKey | undefined {
  try {
    const data = bind(key.check, to);
    const wrapping = decryptWithNonce(Buffer.from(sealed, "base64"), { key: key.wrapping, data });
    return { wrapping: Uint8Array.from(wrapping), check: to };
  } catch {
    return undefined;
  }
}

function bind(from: string, to: string): Buffer {
  return Buffer.from(`glovebox:1:handover:${from}:${to}`);
}

function parseHandOver(text: string | undefined): HandOver | undefined {
  const raw = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(raw)) return undefined;
  const { to, until, sealed } = raw;
  if (typeof to !== "string" || typeof until !== "number" || typeof sealed !== "string") return undefined;
  return { to, until, sealed };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
