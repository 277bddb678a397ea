/** Why a login at a provider failed, as far as a person and a record may be told. */

/** The provider, or a part of it, gives no answer. */
export class UnreachableError extends TypeError {}

/** What the provider says about itself does not fit to the configuration. */
export class UntrueError extends TypeError {}

export interface ProviderFault {
  /** `denied`: the provider did not log the person in. `clock`: a time in its token does not fit. `invalid`: all else. */
  readonly kind: "unreachable" | "denied" | "clock" | "invalid";
  /** Codes and names of claims; never text that the provider or a browser wrote. */
  readonly reason: string;
}

const TIMESTAMP = "OAUTH_JWT_TIMESTAMP_CHECK_FAILED";
const TIMEOUT = "OAUTH_TIMEOUT";
const DENIED = "OAUTH_AUTHORIZATION_RESPONSE_ERROR";
/** An error of RFC 6749 or OpenID Connect, or a code of the package. */
const PLAIN = /^\w{1,60}$/;

export function describeFault(thrown: unknown): ProviderFault {
  if (thrown instanceof UnreachableError) return { kind: "unreachable", reason: thrown.message };
  if (thrown instanceof UntrueError) return { kind: "invalid", reason: thrown.message };
  const code = read(thrown, "code");
  const parts = [code, read(thrown, "error"), findClaim(thrown)].filter((part) => part !== undefined);
  const reason = parts.join(" ") || "not a valid answer";
  switch (code) {
    case TIMEOUT:
      return { kind: "unreachable", reason };
    case DENIED:
      return { kind: "denied", reason };
    case TIMESTAMP:
      return { kind: "clock", reason };
    default:
      return { kind: "invalid", reason };
  }
}

function read(thrown: unknown, key: string): string | undefined {
  const value: unknown = typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, key) : undefined;
  return typeof value === "string" && PLAIN.test(value) ? value : undefined;
}

/** The package tells which claim was wrong in the cause of a cause. */
function findClaim(thrown: unknown): string | undefined {
  for (let one: unknown = thrown, depth = 0; one !== undefined && depth < 4; depth += 1) {
    const claim = read(one, "claim");
    if (claim !== undefined) return claim;
    one = typeof one === "object" && one !== null ? Reflect.get(one, "cause") : undefined;
  }
  return undefined;
}
