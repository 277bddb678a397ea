/** Authentication of the admin API: a bearer token that is new at every start. */

import { createHash, timingSafeEqual } from "node:crypto";

import { GloveboxError } from "../../domain/index.ts";

/** Throws `REQUEST_UNAUTHENTICATED` unless the `Authorization` header carries exactly `token`. */
export function checkToken(authorization: string | undefined, token: string): void {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (given !== undefined && isSame(given, token)) return;
  throw new GloveboxError("REQUEST_UNAUTHENTICATED", "The admin API needs the token of this start", {
    hint: "Open the address that `glovebox serve` prints",
  });
}

/** Compares hashes, so that the time reveals neither the length nor a common prefix. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
