/**
 * The secrets of one execution: its program holds tokens, and this puts values in their place, in requests that the
 * grant allows and nowhere else. Every use is written down before the value leaves, every other place where a token
 * turns up as well.
 */

import type { Ledger } from "../../ledger/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type {
  ExecutionId,
  JsonObject,
  PrincipalId,
  SecretGrant,
  SecretGrants,
  SecretName,
} from "../../domain/index.ts";

import type { Vault } from "../open-vault.ts";
import type { AnswerMask } from "./answer-mask.ts";
import type { TokenOf } from "./create-tokens.ts";
import { countInBody, countInHeader, fillBody, fillHeaders } from "./fill-request.ts";
import type { Filling } from "./fill-request.ts";
import { bindsTo } from "./secret-grants.ts";

type SecretPlace = SecretGrant["places"][number];

/** A shorter value would be found in ordinary words, so it could not be taken out of answers. */
const SHORTEST = 8;
/** A value may be 64 KiB long, so a short request full of tokens would become a very long one. */
const MOST_USES = 32;
/** A program that chose which part of an echo it gets would get a value in pieces, and none of them is found. */
const PARTIAL: readonly string[] = ["range", "if-range"];
const PURPOSE = "program";

export interface LendingOptions {
  readonly execution: ExecutionId;
  readonly principal: PrincipalId;
  /** Those of this principal. */
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
   * Writes down every token of a step that stays a token. Rejects when the address itself would carry a value away:
   * it may come from a host that was sent one. Asked before the host of the step is even looked up.
   */
  readonly check: (step: LendingStep) => Promise<void>;
  /** The step as it is sent. A token that may not be used here stays what it is. */
  readonly fill: (step: LendingStep) => Promise<LendingStep>;
  /** Writes down each token in a text that is no request: `place` says what it is, `detail` more of it. */
  readonly notice: (text: string, place: string, detail?: JsonObject) => Promise<void>;
}

/** Where a token was found, and why it stays there. */
interface Refusal {
  readonly name: SecretName;
  readonly place: string;
  readonly reason: string;
}

/** Nothing is opened before a program uses a token in a place where it counts. */
export function openLending(options: LendingOptions): Lending {
  const { grants, execution, tokenOf } = options;
  const tokens = [...grants].map(([name, grant]): Held => ({ name, grant, token: tokenOf(execution, name) }));
  const refuse = createRefuser(options);
  return {
    async check(step) {
      const { url } = step;
      const host = options.answers.hideText(url.host);
      const refusals = tokens.flatMap((held) => look(held, step).refusals);
      for (const refusal of refusals) await refuse(refusal, { host });
      if (options.answers.hideText(url.href) === url.href) return;
      throw new GloveboxError("EGRESS_DENIED", "The address would carry a secret away", {
        hint: "Send it in a header or the body, to a host that it is granted for",
      });
    },
    async fill(step) {
      const found = tokens.map((held) => look(held, step)).filter(({ places }) => places.length > 0);
      if (found.length === 0) return step;
      if (PARTIAL.some((header) => step.headers.has(header))) throw partial();
      if (found.reduce((sum, { uses }) => sum + uses, 0) > MOST_USES) throw tooManyUses();
      const lent = await lendAll(options, found, step.url.host);
      return fillStep(step, (place) => lent.filter(({ places }) => places.includes(place)));
    },
    async notice(text, place, detail = {}) {
      const reason = "a token is of use in a request only";
      const seen = tokens.filter(({ token }) => text.includes(token));
      for (const { name } of seen) await refuse({ name, place, reason }, detail);
    },
  };
}

interface Held {
  readonly name: SecretName;
  readonly grant: SecretGrant;
  readonly token: string;
}

/** What one step does with one token. */
interface Found extends Held {
  readonly uses: number;
  /** Where its value is put in. */
  readonly places: readonly SecretPlace[];
  readonly refusals: readonly Refusal[];
}

function look(held: Held, step: LendingStep): Found {
  const { name, grant, token } = held;
  const isBound = bindsTo(grant, step.url);
  const counts = countTokens(step, token);
  const places: SecretPlace[] = [];
  const refusals: Refusal[] = [];
  const refuse = (place: string, reason: string): void => void refusals.push({ name, place, reason });
  if (step.url.href.includes(token)) refuse("url", "a token is of no use in an address");
  if ([...step.headers.keys()].some((key) => key.includes(token))) refuse("header name", "it is no value of a header");
  for (const place of ["header", "body"] as const) {
    if (counts[place] === 0) continue;
    if (!isBound) refuse(place, explainUnbound(grant, step.url));
    else if (grant.places.includes(place)) places.push(place);
    else refuse(place, `the secret is not granted for the ${place}`);
  }
  return { ...held, places, refusals, uses: places.reduce((sum, place) => sum + counts[place], 0) };
}

function countTokens({ headers, body }: LendingStep, token: string): Readonly<Record<SecretPlace, number>> {
  const header = [...headers.values()].reduce((sum, text) => sum + countInHeader(text, token), 0);
  return { header, body: body ? countInBody(body, token) : 0 };
}

function explainUnbound(grant: SecretGrant, url: URL): string {
  const encrypted = new URL(url);
  encrypted.protocol = "https:";
  const isOnlyPlain = url.protocol === "http:" && bindsTo(grant, encrypted);
  return isOnlyPlain ? "the secret is not granted for http" : "the secret is not granted for this host";
}

interface Lent extends Filling {
  readonly places: readonly SecretPlace[];
}

/** One loan for each secret of a step, written down before the value is here. */
async function lendAll(
  { vault, execution, principal, answers }: LendingOptions,
  wanted: readonly Found[],
  host: string,
): Promise<readonly Lent[]> {
  const lent: Lent[] = [];
  for (const { name, places, token } of wanted) {
    const detail = { execution, host, places: places.join(", ") };
    const secret = await vault.lend(name, PURPOSE, { actor: principal, detail });
    if (secret.reveal().length < SHORTEST) throw tooShort(name);
    answers.add(secret.reveal());
    lent.push({ token, secret, places });
  }
  return lent;
}

function fillStep(step: LendingStep, fillingsOf: (place: SecretPlace) => readonly Filling[]): LendingStep {
  const { headers, body } = step;
  const inBody = fillingsOf("body");
  const type = headers.get("content-type") ?? "";
  return {
    ...step,
    headers: fillHeaders(headers, fillingsOf("header")),
    body: body && inBody.length > 0 ? fillBody(body, type, inBody) : body,
  };
}

/** Each place of each secret is written down once for each host: a loop says nothing new. */
function createRefuser({ ledger, principal, execution }: LendingOptions) {
  const told = new Set<string>();
  return async ({ name, place, reason }: Refusal, detail: JsonObject): Promise<void> => {
    const key = JSON.stringify([name, place, reason, detail]);
    if (told.has(key)) return;
    told.add(key);
    const said = { purpose: PURPOSE, execution, ...detail, place, reason };
    await ledger.write({ actor: principal, action: "secret.refused", subject: name, detail: said });
  };
}

function partial(): GloveboxError {
  return new GloveboxError("EGRESS_DENIED", "A request with a secret cannot ask for a part of the answer", {
    hint: "Leave out the headers range and if-range",
  });
}

function tooManyUses(): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `A request holds more than ${MOST_USES} tokens of secrets`, {
    hint: "Send fewer at a time",
  });
}

function tooShort(name: SecretName): GloveboxError {
  return new GloveboxError("EGRESS_DENIED", `The secret ${name} is too short to be hidden in answers`, {
    hint: `Set it to a value of ${SHORTEST} characters or more`,
  });
}
