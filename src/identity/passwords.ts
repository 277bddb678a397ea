/** Hashes of passwords. Each hash has its own parameters, so that they can be raised later. */

import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

import { GloveboxError } from "../domain/index.ts";

export interface PasswordCost {
  /** The binary logarithm of `N`. */
  readonly log2n: number;
  readonly r: number;
  readonly p: number;
}

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes the same work without a verifier, so that the time does not tell whether there is one. */
  verify(password: string, verifier: string | undefined): Promise<{ isRight: boolean; isOutdated: boolean }>;
}

/** 32 MiB, and as much work as OWASP recommends. */
const USUAL: PasswordCost = { log2n: 15, r: 8, p: 3 };
const MAX_LOG2N = 20;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
export const MIN_PASSWORD_CHARS = 12;
const MAX_PASSWORD_CHARS = 256;
const AT_ONCE = 2;
const MAX_WAITING = 32;

/** Throws REQUEST_INVALID for a password that is too short or too long. */
export function parsePassword(raw: string): string {
  const { length } = Array.from(raw);
  if (length >= MIN_PASSWORD_CHARS && length <= MAX_PASSWORD_CHARS) return raw;
  throw new GloveboxError(
    "REQUEST_INVALID",
    `A password has ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
    { hint: "Use several words, or a password manager" },
  );
}

export function createPasswords(cost: PasswordCost = USUAL): Passwords {
  const run = createGate();
  const derive = (password: string, salt: Uint8Array, { log2n, r, p }: PasswordCost): Promise<Buffer> =>
    run(
      () =>
        new Promise((resolve, reject) => {
          const N = 2 ** log2n;
          const text = password.slice(0, 2 * MAX_PASSWORD_CHARS).normalize("NFKC");
          scrypt(text, salt, KEY_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
            error ? reject(error) : resolve(key),
          );
        }),
    );
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const key = await derive(password, salt, cost);
      return ["scrypt", cost.log2n, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join("$");
    },
    async verify(password, verifier) {
      const known = verifier === undefined ? undefined : parseVerifier(verifier);
      const { salt, key, ...own } = known ?? { ...cost, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };
      const isRight = timingSafeEqual(await derive(password, salt, own), key) && known !== undefined;
      return { isRight, isOutdated: own.log2n !== cost.log2n || own.r !== cost.r || own.p !== cost.p };
    },
  };
}

/** Returns `undefined` for a damaged one, which no password fits. */
function parseVerifier(text: string) {
  const [, log2n, r, p, salt = "", key = ""] =
    /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]{43})$/.exec(text) ?? [];
  if (log2n === undefined || Number(log2n) > MAX_LOG2N) return undefined;
  const decode = (part: string): Buffer => Buffer.from(part, "base64url");
  return { log2n: Number(log2n), r: Number(r), p: Number(p), salt: decode(salt), key: decode(key) };
}

/** Few at once: hashing uses the threads that files and names need, too. Throws LIMIT_BUSY when too many wait. */
function createGate(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (waiting.length >= MAX_WAITING)
      throw new GloveboxError("LIMIT_BUSY", "Too many people log in at once", { hint: "Try again in a moment" });
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
