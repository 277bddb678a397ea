/**
 * How gateways with a key in their environment get the next one: for some seconds the store holds the next key, sealed
 * with the former. Only a holder of the former key can open or create it.
 */

import { z } from "zod";

import { parseJson } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

import { decryptWithNonce, encryptWithNonce } from "../cipher.ts";
import type { Random } from "../cipher.ts";
import type { MasterKey } from "../seal.ts";

/** The key in `store.meta`. */
const HAND_OVER = "vault.handover";

type Meta = Pick<Store["meta"], "get" | "set" | "erase">;

const OFFER = z.object({ to: z.string(), until: z.number(), sealed: z.string() });

/** Offers the key `to` to processes that have `from`. */
export async function offerKey(
  meta: Meta,
  keys: { readonly from: MasterKey; readonly to: MasterKey },
  { random, until }: { readonly random: Random; readonly until: Instant },
): Promise<void> {
  const { from, to } = keys;
  const data = bind(from.check, to.check);
  const sealed = Buffer.from(encryptWithNonce(to.wrapping, { key: from.wrapping, data, random })).toString("base64");
  await meta.set(HAND_OVER, JSON.stringify({ to: to.check, until, sealed }));
}

/** Returns the key with this check value if one of `held` opens the offer. */
export async function takeKey(meta: Meta, check: string, held: readonly MasterKey[]): Promise<MasterKey | undefined> {
  const offer = await findOffer(meta);
  if (offer?.to !== check) return undefined;
  return held.map((key) => open(offer, key)).find((key) => key !== undefined);
}

/** Erases the offer: unconditionally, or with `now` only an expired one. */
export async function withdrawKey(meta: Meta, now?: Instant): Promise<void> {
  const offer = await findOffer(meta);
  if (!offer || (now !== undefined && now <= offer.until)) return;
  await meta.erase(HAND_OVER);
}

function open({ to, sealed }: z.infer<typeof OFFER>, key: MasterKey): MasterKey | undefined {
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

async function findOffer(meta: Meta): Promise<z.infer<typeof OFFER> | undefined> {
  return OFFER.safeParse(parseJson((await meta.get(HAND_OVER)) ?? "")).data;
}
