/**
 * What the authorization server keeps: clients, requests, codes, tokens and grants. Ids are kept as keyed digests and
 * contents sealed, so the store reveals no credential.
 */

import { timingSafeEqual } from "node:crypto";

import { defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Instant, Seal } from "../../domain/index.ts";
import type { IdentityPowers } from "../powers.ts";

/** A record, as it was saved. */
export type OauthPayload = Record<string, unknown>;

export interface FoundOauthRecord {
  readonly payload: OauthPayload;
  /** The time of its only use; absent before. */
  readonly consumedAt?: Instant;
  /** For records in the ledger: the beginning of the digest. */
  readonly shownId: string;
  readonly expiresAt?: Instant;
}

export interface OauthRecords {
  put(model: string, id: string, payload: OauthPayload, expiresInSeconds?: number): Promise<void>;
  find(model: string, id: string): Promise<FoundOauthRecord | undefined>;
  /** Returns `undefined` also for one without its grant. */
  findGranted(model: string, id: string): Promise<FoundOauthRecord | undefined>;
  findByUid(model: string, uid: string): Promise<FoundOauthRecord | undefined>;
  /** Returns false if it was consumed before: of two processes one consumes it. */
  consume(model: string, id: string): Promise<boolean>;
  remove(model: string, id: string): Promise<void>;
  /** Removes the tokens and codes of a grant, and by default the grant itself. */
  removeGrant(grantId: string, what?: "all" | "tokens"): Promise<void>;
  count(model: string): Promise<number>;
  /** Those of one kind, of one person or all. */
  list(model: string, person?: string): Promise<readonly FoundOauthRecord[]>;
}

export const GRANT = "Grant";
const SHOWN_CHARS = 16;
const SECOND_MS = 1000;
/** A longer id was not made here. */
const MAX_ID_CHARS = 2048;

export function createOauthRecords(
  { store, now, digestFor }: Pick<IdentityPowers, "store" | "now" | "digestFor">,
  seal: Pick<Seal, "close" | "open">,
): OauthRecords {
  const keyed = digestFor("records of the authorization server");
  const toDigest = (model: string, id: string): Uint8Array => keyed(`${model} ${id}`);
  const toContext = (model: string, digest: Uint8Array): string => `oauth ${model} ${toHex(digest)}`;
  const open = (row: Awaited<ReturnType<typeof store.findOauthRecord>>, model: string) => {
    if (!row || row.model !== model) return undefined;
    const payload: unknown = parseJson(seal.open(row.sealed, toContext(model, row.digest)));
    if (!isJsonObject(payload)) return undefined;
    const { consumedAt, expiresAt } = row;
    const shownId = toHex(row.digest).slice(0, SHOWN_CHARS);
    return { payload: { ...payload }, shownId, ...defined({ consumedAt, expiresAt }) };
  };
  const find = async (model: string, id: string, granted: boolean): Promise<FoundOauthRecord | undefined> => {
    if (id.length > MAX_ID_CHARS) return undefined;
    const digest = toDigest(model, id);
    const row = await store.findOauthRecord({ digest, granted }, now());
    return row && timingSafeEqual(row.digest, digest) ? open(row, model) : undefined;
  };
  return {
    async put(model, id, payload, expiresInSeconds) {
      const [digest, at] = [toDigest(model, id), now()];
      const row = {
        digest,
        model,
        sealed: seal.close(JSON.stringify(payload), toContext(model, digest)),
        ...defined({
          person: textOf(payload["accountId"]),
          grantDigest: toOptional(payload["grantId"], (grant) => toDigest(GRANT, grant)),
          uidDigest: toOptional(payload["uid"], (uid) => toDigest(`uid of ${model}`, uid)),
          expiresAt: expiresInSeconds === undefined ? undefined : at + expiresInSeconds * SECOND_MS,
        }),
      };
      await store.putOauthRecord(row, at);
    },
    find: (model, id) => find(model, id, false),
    findGranted: (model, id) => find(model, id, true),
    findByUid: async (model, uid) =>
      open(await store.findOauthRecord({ uid: toDigest(`uid of ${model}`, uid) }, now()), model),
    consume: (model, id) => store.consumeOauthRecord(toDigest(model, id), now()),
    remove: async (model, id) => void (await store.removeOauthRecords({ digest: toDigest(model, id) })),
    async removeGrant(grantId, what = "all") {
      const digest = toDigest(GRANT, grantId);
      await store.removeOauthRecords(what === "all" ? { login: digest } : { grant: digest });
    },
    count: (model) => store.countOauthRecords(model, now()),
    list: async (model, person) => {
      const rows = await store.listOauthRecords(model, now(), person);
      return rows.flatMap((row) => open(row, model) ?? []);
    },
  };
}

function toHex(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toOptional(value: unknown, convert: (text: string) => Uint8Array): Uint8Array | undefined {
  return typeof value === "string" ? convert(value) : undefined;
}
