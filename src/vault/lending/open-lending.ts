/**
 * The secrets of one execution: its program holds tokens, which are replaced by values only in requests that the grant
 * allows. Every use is recorded before the value leaves, and so is every other place where a token appears.
 */

import { createHmac } from "node:crypto";

import type { Ledger } from "../../ledger/index.ts";
import { GloveboxError, matchesHost, toPlace } from "../../domain/index.ts";
import type {
  ExecutionId,
  JsonObject,
  PrincipalId,
  SecretGrant,
  SecretGrants,
  SecretName,
} from "../../domain/index.ts";

import type { Vault } from "../vault.ts";
import type { AnswerMask } from "./answer-mask.ts";
import { countInBody, countInHeader, fillBody, fillHeaders } from "./fill-request.ts";
import type { Filling } from "./fill-request.ts";

type GrantedPlace = SecretGrant["places"][number];

/** A shorter value occurs in ordinary words, so it could not be removed from answers. */
const SHORTEST = 8;
/** A value may have 64 KiB, so a short request full of tokens would become a very long one. */
const MOST_USES = 32;
/** With these, a program could fetch an echoed value in pieces too short to be found. */
const PARTIAL: readonly string[] = ["range", "if-range"];
const PURPOSE = "program";
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;
const TOKEN_PREFIX = "glovebox-secret-";
/** 128 bits in hex: unguessable. */
const TOKEN_DIGITS = 32;

/** Returns the token of a secret in an execution. It is always the same, so that a replay uses it again. */
export type TokenOf = (execution: ExecutionId, name: SecretName) => string;

/** `key` must be secret and must outlive the process. It reveals nothing about any secret. */
export function createTokens(key: Uint8Array): TokenOf {
  return (execution, name) => {
    // Neither an id nor a name contains a colon, so different pairs give different input.
    const mark = createHmac("sha256", key).update(`${execution}:${name}`).digest("hex");
    return TOKEN_PREFIX + mark.slice(0, TOKEN_DIGITS);
  };
}

/** Whether the secret may be sent to this URL: by https, on this machine, or as plain http if granted so. */
export function bindsTo({ hosts }: Pick<SecretGrant, "hosts">, url: URL): boolean {
  const place = toPlace(url);
  const isSafe = url.protocol === "https:" || LOOPBACK.test(place.host);
  return hosts.some(
    ({ pattern, isPlain }) =>
      matchesHost(pattern, place, url.protocol) && (isPlain ? url.protocol === "http:" : isSafe),
  );
}

/** Returns the grants that apply to the programs of one principal. */
export function grantsFor(grants: SecretGrants, principal: string): SecretGrants {
  return new Map([...grants].filter(([, { principals }]) => principals.length === 0 || principals.includes(principal)));
}

export interface LendingOptions {
  readonly execution: ExecutionId;
  readonly principal: PrincipalId;
  /** The grants of this principal. */
  readonly grants: SecretGrants;
  readonly tokenOf: TokenOf;
  readonly vault: Pick<Vault, "lend">;
  readonly ledger: Pick<Ledger, "write">;
  readonly answers: AnswerMask;
}

/** One step of a request: what is sent to one address. */
export interface LendingStep {
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}

export interface Lending {
  /**
   * Records every token of a step that is not replaced. Rejects when the URL itself contains a value, which may come
   * from a host that was sent one. Called before the host of the step is resolved.
   */
  readonly check: (step: LendingStep) => Promise<void>;
  /** Returns the step as it is sent. A token that may not be used here stays a token. */
  readonly fill: (step: LendingStep) => Promise<LendingStep>;
  /** Records each token in text that is not a request: `place` names the text, `detail` describes it. */
  readonly notice: (text: string, place: string, detail?: JsonObject) => Promise<void>;
}

/** Where a token was found, and why it is not replaced. */
interface Refusal {
  readonly name: SecretName;
  readonly place: string;
  readonly reason: string;
}

/** Opens no secret before a program uses its token in an allowed place. */
export function openLending(options: LendingOptions): Lending {
  const { grants, execution, tokenOf } = options;
  const tokens = [...grants].map(([name, grant]): HeldToken => ({ name, grant, token: tokenOf(execution, name) }));
  const refuse = createRefuser(options);
  return {
    async check(step) {
      const { url } = step;
      const host = options.answers.hideText(url.host);
      const refusals = tokens.flatMap((held) => findUses(held, step).refusals);
      for (const refusal of refusals) await refuse(refusal, { host });
      if (options.answers.hideText(url.href) === url.href) return;
      throw new GloveboxError("EGRESS_DENIED", "The URL contains a secret", {
        hint: "Send the secret in a header or the body, to a host that it is granted for",
      });
    },
    async fill(step) {
      const found = tokens.map((held) => findUses(held, step)).filter(({ places }) => places.length > 0);
      if (found.length === 0) return step;
      if (PARTIAL.some((header) => step.headers.has(header)))
        throw new GloveboxError("EGRESS_DENIED", "A request with a secret cannot request a part of the answer", {
          hint: "Remove the headers range and if-range",
        });
      if (found.reduce((sum, { uses }) => sum + uses, 0) > MOST_USES)
        throw new GloveboxError("LIMIT_SIZE", `A request holds more than ${MOST_USES} tokens of secrets`, {
          hint: "Send fewer at a time",
        });
      const lent = await lendAll(options, found, step.url.host);
      const { headers, body } = step;
      const lentFor = (place: GrantedPlace) => lent.filter(({ places }) => places.includes(place));
      const [inBody, type] = [lentFor("body"), headers.get("content-type") ?? ""];
      const filled = body && inBody.length > 0 ? fillBody(body, type, inBody) : body;
      return { ...step, headers: fillHeaders(headers, lentFor("header")), body: filled };
    },
    async notice(text, place, detail = {}) {
      const reason = "a token is of use in a request only";
      const found = tokens.filter(({ token }) => text.includes(token));
      for (const { name } of found) await refuse({ name, place, reason }, detail);
    },
  };
}

interface HeldToken {
  readonly name: SecretName;
  readonly grant: SecretGrant;
  readonly token: string;
}

/** What one step does with one token. */
interface TokenUse extends HeldToken {
  readonly uses: number;
  /** Where the token is replaced by its value. */
  readonly places: readonly GrantedPlace[];
  readonly refusals: readonly Refusal[];
}

function findUses(held: HeldToken, step: LendingStep): TokenUse {
  const { name, grant, token } = held;
  const isBound = bindsTo(grant, step.url);
  const counts = countTokens(step, token);
  const places: GrantedPlace[] = [];
  const refusals: Refusal[] = [];
  const refuse = (place: string, reason: string): void => void refusals.push({ name, place, reason });
  if (step.url.href.includes(token)) refuse("url", "a token is of no use in an address");
  if ([...step.headers.keys()].some((key) => key.includes(token)))
    refuse("header name", "a header name is not a header value");
  for (const place of ["header", "body"] as const) {
    if (counts[place] === 0) continue;
    if (!isBound) refuse(place, explainUnbound(grant, step.url));
    else if (grant.places.includes(place)) places.push(place);
    else refuse(place, `the secret is not granted for the ${place}`);
  }
  return { ...held, places, refusals, uses: places.reduce((sum, place) => sum + counts[place], 0) };
}

function countTokens({ headers, body }: LendingStep, token: string): Readonly<Record<GrantedPlace, number>> {
  const header = [...headers.values()].reduce((sum, text) => sum + countInHeader(text, token), 0);
  return { header, body: body ? countInBody(body, token) : 0 };
}

function explainUnbound(grant: SecretGrant, url: URL): string {
  const encrypted = new URL(url);
  encrypted.protocol = "https:";
  const isOnlyPlain = url.protocol === "http:" && bindsTo(grant, encrypted);
  return isOnlyPlain ? "the secret is not granted for http" : "the secret is not granted for this host";
}

type LentSecret = Filling & Pick<TokenUse, "places">;

/** Makes one loan per secret of a step, recorded before the value is returned. */
async function lendAll(
  { vault, execution, principal, answers }: LendingOptions,
  wanted: readonly TokenUse[],
  host: string,
): Promise<readonly LentSecret[]> {
  const lent: LentSecret[] = [];
  for (const { name, places, token } of wanted) {
    const detail = { execution, host, places: places.join(", ") };
    const secret = await vault.lend(name, PURPOSE, { actor: principal, detail });
    if (secret.reveal().length < SHORTEST)
      throw new GloveboxError("EGRESS_DENIED", `The secret ${name} is too short to be hidden in answers`, {
        hint: `Set it to a value of ${SHORTEST} characters or more`,
      });
    answers.add(secret.reveal());
    lent.push({ token, secret, places });
  }
  return lent;
}

/** Records each place of each secret once per host: a loop adds nothing new. */
function createRefuser({ ledger, principal, execution }: LendingOptions) {
  const recorded = new Set<string>();
  return async ({ name, place, reason }: Refusal, detail: JsonObject): Promise<void> => {
    const key = JSON.stringify([name, place, reason, detail]);
    if (recorded.has(key)) return;
    recorded.add(key);
    const full = { purpose: PURPOSE, execution, ...detail, place, reason };
    await ledger.write({ actor: principal, action: "secret.refused", subject: name, detail: full });
  };
}
