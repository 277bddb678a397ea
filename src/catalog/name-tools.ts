/**
 * The naming rule: every upstream name becomes a camelCase identifier, and all identifiers of a group differ.
 * The result depends only on the set of names, never on their order. Hostile names cost no more than others.
 */

import { createHash } from "node:crypto";

import { RESERVED_NAMESPACES, RESERVED_TOOLS } from "./reserved-names.ts";

/** The length that `parseToolAddress` accepts on either side of the dot. */
const MAX_LENGTH = 128;

/** Only this much of a name is used, because normalization can make it 18 times longer. The digest covers all of it. */
const READ_LENGTH = 1024;

const NONE: ReadonlyMap<string, string> = new Map();

/** How many digest digits a name gets after each further collision; with the whole digest there are no more. */
const DIGEST_LENGTHS = [0, 6, 16, 64] as const;
const LAST_ROUND = DIGEST_LENGTHS.length - 1;

/** A server can chain collisions. After this many passes all of its names get their whole digest, which ends them. */
const MAX_PASSES = 8;

interface Scheme {
  readonly nameless: string;
  readonly beforeDigit: string;
  readonly afterReserved: string;
  readonly reserved: ReadonlySet<string>;
}

const TOOLS: Scheme = { nameless: "tool", beforeDigit: "t", afterReserved: "Tool", reserved: RESERVED_TOOLS };
const NAMESPACES: Scheme = {
  nameless: "server",
  beforeDigit: "ns",
  afterReserved: "Server",
  reserved: RESERVED_NAMESPACES,
};

/**
 * Returns identifiers for the tools of one server, by upstream name. Repeated names count once.
 *
 * 1. Unicode is normalized (NFKC). Characters other than `A-Z a-z 0-9` separate words. Words are joined in camelCase.
 *    A word in capitals is lowered (`get-URL` → `getUrl`); capitals inside a word stay (`getURL` → `getURL`).
 * 2. An empty name becomes `tool` (for a server `server`) and a digest. A leading digit gets the prefix `t` (`ns`).
 * 3. A reserved name gets the suffix `Tool` (`Server`). A name over 128 characters is shortened and gets a digest.
 * 4. Names that differ only in case ALL get the first 6 digits of their SHA-256, and more if that is not enough.
 * 5. Tools in `kept` keep their names: only the others get digits, also for the plain name of a kept tool.
 */
export function nameTools(originals: Iterable<string>, kept = NONE): ReadonlyMap<string, string> {
  return nameAll(originals, TOOLS, kept);
}

/** Returns the name that a tool has if no other tool collides with it. */
export function toPlainName(original: string): string {
  return toName(toCandidate(original, TOOLS));
}

/** Returns a test whether a tool would have the name of a kept tool, or the one that this had without digits. */
export function createCollisionTest(kept: ReadonlyMap<string, string>): (original: string) => boolean {
  const taken = takenBy(kept, TOOLS);
  return (original) => taken.has(toKey(toCandidate(original, TOOLS)));
}

/** Returns identifiers for servers, by their names in the configuration; these become globals in programs. */
export function nameNamespaces(originals: Iterable<string>): ReadonlyMap<string, string> {
  return nameAll(originals, NAMESPACES, NONE);
}

/** True if a server of this name can become the global `namespace`, depending on the other servers. */
export function canBeNamespace(original: string, namespace: string): boolean {
  const candidate = toCandidate(original, NAMESPACES);
  return DIGEST_LENGTHS.some((_, round) => toName({ ...candidate, round }) === namespace);
}

interface Candidate {
  readonly original: string;
  readonly base: string;
  digest: string;
  round: number;
}

/** Lengthens a colliding group as a whole, so that the order of the listing does not decide who keeps the plain name. */
function nameAll(
  originals: Iterable<string>,
  scheme: Scheme,
  kept: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const all = [...new Set(originals)];
  const taken = takenBy(kept, scheme);
  const candidates = all.filter((one) => !kept.has(one)).map((original) => toCandidate(original, scheme));
  for (let pass = 0; separate(candidates, taken); pass += 1) {
    if (pass < MAX_PASSES) continue;
    for (const one of candidates) one.round = LAST_ROUND;
    // A kept name can imitate a whole digest: the digest of the digest follows.
    for (const one of candidates) while (taken.has(toKey(one))) one.digest = hashName(one.digest);
    break;
  }
  const names = new Map(candidates.map((one) => [one.original, toName(one)]));
  return new Map(all.map((original) => [original, kept.get(original) ?? names.get(original) ?? ""]));
}

/** The names of kept tools, and their names without digits: a new tool gets neither. */
function takenBy(kept: ReadonlyMap<string, string>, scheme: Scheme): ReadonlySet<string> {
  return new Set([...kept].flatMap(([original, name]) => [name.toLowerCase(), toKey(toCandidate(original, scheme))]));
}

/** Lengthens the names of every colliding group; returns false if there was none. */
function separate(candidates: readonly Candidate[], taken: ReadonlySet<string>): boolean {
  const groups = Map.groupBy(candidates, toKey);
  const colliding = [...groups].flatMap(([key, group]) => (group.length > 1 || taken.has(key) ? group : []));
  for (const one of colliding) one.round = Math.min(one.round + 1, LAST_ROUND);
  return colliding.length > 0;
}

/** Names that differ only in case collide. */
function toKey(candidate: Candidate): string {
  return toName(candidate).toLowerCase();
}

function toName({ original, base, digest, round }: Candidate): string {
  const isCut = base.length > MAX_LENGTH || original.length > READ_LENGTH;
  const digits = DIGEST_LENGTHS[round === 0 && isCut ? 1 : round] ?? 0;
  return base.slice(0, MAX_LENGTH - digits) + digest.slice(0, digits);
}

function toCandidate(original: string, scheme: Scheme): Candidate {
  const digest = hashName(original);
  return { original, base: toBase(original, digest, scheme), digest, round: 0 };
}

function toBase(original: string, digest: string, scheme: Scheme): string {
  const joined = joinWords(original);
  if (joined === "") return scheme.nameless + digest.slice(0, DIGEST_LENGTHS[1]);
  const started = /^[0-9]/.test(joined) ? scheme.beforeDigit + joined : joined;
  return scheme.reserved.has(started) ? started + scheme.afterReserved : started;
}

function joinWords(original: string): string {
  const folded = original.slice(0, READ_LENGTH).normalize("NFKC");
  const words = folded.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word, at) => (at === 0 ? startLower(word) : startUpper(word))).join("");
}

const isCapitals = (word: string): boolean => word === word.toUpperCase();

/** `ListIssues` → `listIssues`, `URLFetch` → `urlFetch`, `LIST` → `list`; a word with a lower-case start is unchanged. */
function startLower(word: string): string {
  if (isCapitals(word)) return word.toLowerCase();
  return word.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/, (start) => start.toLowerCase());
}

function startUpper(word: string): string {
  const rest = isCapitals(word) ? word.slice(1).toLowerCase() : word.slice(1);
  return word.slice(0, 1).toUpperCase() + rest;
}

/** Lone surrogates are hashed as UTF-16, to differ. Existing names depend on it: `digestOf` cannot replace this. */
function hashName(text: string): string {
  return createHash("sha256")
    .update(text, text.isWellFormed() ? "utf8" : "utf16le")
    .digest("hex");
}
