/** The front door of `vault`. */

export { openVault } from "./open-vault.ts";
export type { SecretSummary, Vault, VaultOptions } from "./open-vault.ts";
export { Secret } from "./secret.ts";
export { fillTemplates } from "./fill-templates.ts";
export type { SecretTemplate } from "./fill-templates.ts";
export { findSigningKey, loadSigningKey } from "./signing-key.ts";
export type { SigningKey } from "./signing-key.ts";
