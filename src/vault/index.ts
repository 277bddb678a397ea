/** The front door of `vault`. */

export { openVault } from "./open-vault.ts";
export type { SecretSummary, Vault, VaultOptions } from "./open-vault.ts";
export type { Seal } from "./open-seal.ts";
export type { Rotation, RotationRequest } from "./rotate-key.ts";
export { watchKey } from "./watch-key.ts";
export type { KeyWatch, KeyWatchOptions } from "./watch-key.ts";
export { Secret } from "./secret.ts";
export { fillTemplates } from "./fill-templates.ts";
export type { SecretTemplate } from "./fill-templates.ts";
export { findCredentials } from "./find-credentials.ts";
export { createMask } from "./mask.ts";
export type { Hide, Mask } from "./mask.ts";
export { findSigningKey, loadSigningKey } from "./signing-key.ts";
export type { SigningKey } from "./signing-key.ts";
