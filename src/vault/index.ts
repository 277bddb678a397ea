/** The front door of `vault`: keeps secrets sealed, lends them to one use at a time, and masks them in text. */

export { findInApi, findInServer, findPlaintextCredentials, maskKnownSecrets } from "./find-plaintext-credentials.ts";
export { findSigningKey, loadSigningKey } from "./keys/key-file.ts";
export type { Lending } from "./lending/open-lending.ts";
export { createProgramSecrets } from "./lending/program-secrets.ts";
export type { ProgramSecrets } from "./lending/program-secrets.ts";
export { createMask } from "./mask.ts";
export type { Hide, Mask } from "./mask.ts";
export { unlockToRead } from "./open-seal.ts";
export { fillTemplates, openVault, watchKey } from "./open-vault.ts";
export { createRandom } from "./random.ts";
export { Secret } from "./secret.ts";
export type { SecretSummary, Vault } from "./vault.ts";
