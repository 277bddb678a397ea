/** The front door of `vault`. */

export { openVault } from "./open-vault.ts";
export type { Borrower, SecretSummary, Vault, VaultOptions } from "./open-vault.ts";
export { createProgramSecrets } from "./lending/program-secrets.ts";
export type { ProgramSecrets } from "./lending/program-secrets.ts";
export type { Lending } from "./lending/open-lending.ts";
export type { Rotation, RotationRequest } from "./rotate-key.ts";
export { watchKey } from "./watch-key.ts";
export { Secret } from "./secret.ts";
export { fillTemplates } from "./fill-templates.ts";
export { findInApi, findInServer, findPlaintextCredentials } from "./find-plaintext-credentials.ts";
export { createMask } from "./mask.ts";
export type { Hide, Mask } from "./mask.ts";
export { findSigningKey, loadSigningKey } from "./signing-key.ts";
export type { SigningKey } from "./signing-key.ts";
