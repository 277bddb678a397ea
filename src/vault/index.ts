/** The front door of `vault`. */

export { openVault } from "./open-vault.ts";
export type { Borrower, SecretSummary, Vault, VaultOptions } from "./open-vault.ts";
export { createAnswerMask } from "./lending/answer-mask.ts";
export type { AnswerMask } from "./lending/answer-mask.ts";
export { createTokens } from "./lending/create-tokens.ts";
export type { TokenOf } from "./lending/create-tokens.ts";
export { openLending } from "./lending/open-lending.ts";
export type { Lending, LendingOptions, LendingStep } from "./lending/open-lending.ts";
export { grantsFor } from "./lending/secret-grants.ts";
export type { Rotation, RotationRequest } from "./rotate-key.ts";
export { createKeyLook } from "./look-at-key.ts";
export type { KeyLookOptions } from "./look-at-key.ts";
export { Secret } from "./secret.ts";
export { fillTemplates } from "./fill-templates.ts";
export { findInApi, findInServer, findPlaintextCredentials } from "./find-plaintext-credentials.ts";
export { createMask } from "./mask.ts";
export type { Hide, Mask } from "./mask.ts";
export { findSigningKey, loadSigningKey } from "./signing-key.ts";
export type { SigningKey } from "./signing-key.ts";
