/** What a program holds in place of a secret: a text that means something to this gateway alone, in one execution alone. */

import { createHmac } from "node:crypto";

import type { ExecutionId, SecretName } from "../../domain/index.ts";

const PREFIX = "glovebox-secret-";
/** 128 bits in hex: nobody guesses one. */
const DIGITS = 32;

/** The token of one secret in one execution: the same whenever it is asked for, so that a replay meets it again. */
export type TokenOf = (execution: ExecutionId, name: SecretName) => string;

/** `key` must be secret and must outlive the process; it says nothing about any secret. */
export function createTokens(key: Uint8Array): TokenOf {
  return (execution, name) => {
    // Neither an id nor a name holds a colon, so no two pairs are one text.
    const mark = createHmac("sha256", key).update(`${execution}:${name}`).digest("hex");
    return PREFIX + mark.slice(0, DIGITS);
  };
}
