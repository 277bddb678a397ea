/** What a program holds instead of a secret: a string that has a meaning for this gateway and this execution only. */

import { createHmac } from "node:crypto";

import type { ExecutionId, SecretName } from "../../domain/index.ts";

const PREFIX = "glovebox-secret-";
/** 128 bits in hex: unguessable. */
const DIGITS = 32;

/** Returns the token of a secret in an execution. It is always the same, so that a replay uses it again. */
export type TokenOf = (execution: ExecutionId, name: SecretName) => string;

/** `key` must be secret and must outlive the process. It reveals nothing about any secret. */
export function createTokens(key: Uint8Array): TokenOf {
  return (execution, name) => {
    // Neither an id nor a name contains a colon, so different pairs give different input.
    const mark = createHmac("sha256", key).update(`${execution}:${name}`).digest("hex");
    return PREFIX + mark.slice(0, DIGITS);
  };
}
