/**
 * The keys that sign approvals. The first one is that of the gateway; each rotation makes a new one. The gateway signs
 * the list of all of them, with the signatures that a former key had made: a former key that leaks signs nothing more.
 */

import { z } from "zod";

import { GloveboxError, canonicalJson, parseDigest, parseJson } from "../../domain/index.ts";
import type { Digest, Instant, Seal } from "../../domain/index.ts";
import { checkSignedText, createSigner, parsePublicKey } from "../../ledger/index.ts";
import type { Store } from "../../store/index.ts";
import { digestOf } from "../../text/index.ts";

/** The key of the gateway. */
export type RootSigner = Pick<ReturnType<typeof createSigner>, "key" | "signText" | "checkText">;
export type SkillKey = RootSigner["key"];

export interface SkillKeys {
  /** Signs with the current key. */
  sign(purpose: string, text: string): Promise<{ readonly key: SkillKey; readonly signature: string }>;
  /** Says what is wrong with a signature; `undefined` if a key of this gateway made it while that key was current. */
  findFault(signed: SignedText): Promise<string | undefined>;
  /** Makes a new key. What former keys signed stays valid if `signatures` contains it. */
  rotate(signatures: readonly string[]): Promise<{ readonly from: SkillKey; readonly to: SkillKey }>;
}

export interface SignedText {
  readonly key: SkillKey;
  readonly signature: string;
  readonly purpose: string;
  readonly text: string;
}

export interface SkillKeyPowers {
  readonly values: Pick<Store["meta"], "get" | "set">;
  readonly root: RootSigner;
  readonly openSeal: () => Promise<Pick<Seal, "close" | "openBytes">>;
  readonly random: (bytes: number) => Uint8Array;
  readonly now: () => Instant;
}

const ENTRY = "skills.keys";
const PURPOSE = "glovebox keys of skill approvals, version 1";
const SEED_BYTES = 32;

const key = z.custom<SkillKey>((raw) => parsePublicKey(raw) !== undefined);
const digest = z.custom<Digest>((raw) => parseDigest(raw) !== undefined);
const KEYS = z.strictObject({
  current: z.strictObject({ key, sealedSeed: z.base64() }),
  /** `signed` has digests of signatures. */
  former: z.array(z.strictObject({ key, until: z.int(), signed: z.array(digest) })),
});
const STORED = z.strictObject({ keys: KEYS, signature: z.string() });
type Keys = z.infer<typeof KEYS>;

export function openKeyring({ values, root, openSeal, random, now }: SkillKeyPowers): SkillKeys {
  let known: { readonly text: string; readonly keys: Promise<Keys> } | undefined;
  const load = async (): Promise<Keys | undefined> => {
    const text = await values.get(ENTRY);
    if (text === undefined) return undefined;
    if (known?.text !== text) known = { text, keys: parseKeys(text, root) };
    return known.keys;
  };
  const openSigner = async ({ current }: Keys): Promise<RootSigner> => {
    const seal = await openSeal();
    return createSigner(seal.openBytes(Buffer.from(current.sealedSeed, "base64"), `${ENTRY} ${current.key}`));
  };
  return {
    async sign(purpose, text) {
      const keys = await load();
      const signer = keys ? await openSigner(keys) : root;
      return { key: signer.key, signature: await signer.signText(purpose, text) };
    },
    async findFault({ key: by, signature, purpose, text }) {
      const keys = await load();
      const former = keys?.former.find((one) => one.key === by);
      const isCurrent = by === (keys?.current.key ?? root.key);
      if (!isCurrent && !former) return `its approval is signed by the key ${by} of another gateway`;
      if (former && !former.signed.includes(digestOf(signature)))
        return `its approval is signed by the former key ${by} after that was replaced`;
      return (await checkSignedText(by, { purpose, text, signature })) ? undefined : CHANGED;
    },
    async rotate(signatures) {
      const keys = await load();
      const [seed, seal] = [random(SEED_BYTES), await openSeal()];
      const [from, to] = [keys?.current.key ?? root.key, createSigner(seed).key];
      const sealedSeed = Buffer.from(seal.close(seed, `${ENTRY} ${to}`)).toString("base64");
      const replaced = { key: from, until: now(), signed: signatures.map((one) => digestOf(one)) };
      const next: Keys = { current: { key: to, sealedSeed }, former: [...(keys?.former ?? []), replaced] };
      const signature = await root.signText(PURPOSE, canonicalJson(next));
      await values.set(ENTRY, JSON.stringify({ keys: next, signature }));
      return { from, to };
    },
  };
}

const CHANGED = "its record was changed after its approval";

/** Throws STORE_UNAVAILABLE for a list that the gateway did not sign. */
async function parseKeys(text: string, root: RootSigner): Promise<Keys> {
  const stored = STORED.safeParse(parseJson(text)).data;
  if (stored && (await root.checkText(PURPOSE, canonicalJson(stored.keys), stored.signature))) return stored.keys;
  throw new GloveboxError("STORE_UNAVAILABLE", "The list of keys that sign skills was changed", {
    hint: "Restore a backup of the store, and run `glovebox audit verify`",
  });
}
