/**
 * How many failed logins are accepted, of a person and of an address. All ways to log in count together, and so do all
 * processes on a store.
 */

import { GloveboxError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { MINUTE_MS } from "../timing/index.ts";

import { networkOf } from "./network-of.ts";
import type { IdentityPowers } from "./powers.ts";

export interface LoginLimit {
  /**
   * Counts an attempt before its work and returns its holder. Throws LIMIT_QUOTA. A typed name is stored as a digest: it
   * may be a password in the wrong field.
   */
  take(name: string | undefined, origin: string): Promise<string>;
  /** A login that succeeded does not count. */
  giveBack(holder: string): Promise<unknown>;
}

interface LimitPowers extends Pick<IdentityPowers, "createId" | "digestFor" | "now" | "record"> {
  readonly quotas: Pick<Store["quotas"], "giveBack" | "take">;
}

const WINDOW_MS = 15 * MINUTE_MS;
const MAX_PER_PERSON_AND_ORIGIN = 5;
const MAX_PER_PERSON = 30;
const MAX_PER_ORIGIN = 30;
const FAMILY = "login:";

export function createLoginLimit({ quotas, record, now, createId, digestFor }: LimitPowers): LoginLimit {
  const digest = digestFor("names at login");
  const claim = (key: string, most: number) =>
    ({
      kind: "window",
      key: `${FAMILY}${key}`,
      windowMs: WINDOW_MS,
      family: FAMILY,
      limit: most,
      amount: 1,
      least: 1,
    }) as const;
  return {
    giveBack: (holder) => quotas.giveBack(holder, 0),
    async take(name, origin) {
      const holder = `login ${createId()}`;
      const who = name === undefined ? undefined : Buffer.from(digest(name)).toString("base64url");
      const network = networkOf(origin);
      const ofPerson = [
        claim(`both:${who}:${network}`, MAX_PER_PERSON_AND_ORIGIN),
        claim(`person:${who}`, MAX_PER_PERSON),
      ];
      const ofAll = claim(`origin:${network}`, MAX_PER_ORIGIN);
      const claims = [...(who === undefined ? [] : ofPerson), ofAll].map((one) => ({ ...one, holder }));
      const outcome = await quotas.take(claims, now());
      if (outcome.kind === "taken") return holder;
      const seconds = Math.max(1, Math.ceil((outcome.freeAt - now()) / 1000));
      const first = await quotas.take([claim(`seen:${outcome.claim.key}`, 1)], now());
      if (first.kind === "taken") {
        const detail = { kind: "bruteForce", origin, attempts: outcome.used, windowMs: WINDOW_MS };
        await record({ actor: "gateway", action: "anomaly.seen", subject: origin, detail });
      }
      throw new GloveboxError("LIMIT_QUOTA", "Too many failed logins", { hint: `Try again in ${seconds} seconds` });
    },
  };
}
