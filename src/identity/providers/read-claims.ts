/** What a provider says about a person: who it is, by which name, and in which groups. */

import { isJsonObject } from "../../domain/index.ts";
import type { Instant } from "../../domain/index.ts";
import { ROLES } from "../scopes.ts";
import type { RoleName } from "../scopes.ts";

/** The parts of the settings that decide about claims. */
export interface ClaimSettings {
  readonly nameClaim: string;
  readonly groupsClaim: string;
  /** The roles of each group. */
  readonly roles: Readonly<Record<string, readonly RoleName[]>>;
}

export interface ReadClaims {
  /** Names the person at the provider for good. */
  readonly subject: string;
  /** As the provider writes it; not checked yet. */
  readonly name: unknown;
  readonly roles: readonly RoleName[];
  /** When the person proved who they are at the provider; absent if it does not say so. */
  readonly authenticatedAt?: Instant;
}

const MAX_SUBJECT_CHARS = 255;
const SECOND_MS = 1000;

/** True if the claims lack something that the provider may tell elsewhere. */
export function isIncomplete(claims: object, { nameClaim, groupsClaim }: ClaimSettings): boolean {
  return [nameClaim, groupsClaim].some((claim) => !Object.hasOwn(claims, claim));
}

/** Returns `undefined` without a usable subject. */
export function readClaims(claims: unknown, settings: ClaimSettings, now: Instant): ReadClaims | undefined {
  if (!isJsonObject(claims)) return undefined;
  const { sub: subject, auth_time: seconds, email_verified: isVerified } = claims;
  if (typeof subject !== "string" || subject === "" || subject.length > MAX_SUBJECT_CHARS) return undefined;
  const { nameClaim, groupsClaim, roles } = settings;
  const groups = new Set([own(claims, groupsClaim)].flat());
  const given = Object.entries(roles).flatMap(([group, names]) => (groups.has(group) ? names : []));
  const isClaimed = nameClaim === "email" && isVerified !== undefined && isVerified !== true;
  return {
    subject,
    name: isClaimed ? undefined : own(claims, nameClaim),
    roles: ROLES.filter((role) => given.includes(role)),
    ...(typeof seconds === "number" && { authenticatedAt: Math.min(now, seconds * SECOND_MS) }),
  };
}

function own(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
