/** The front door of `audit`. */

export { startExports } from "./export/start-exports.ts";
export { createPreview } from "./create-preview.ts";
export { recordStart } from "./record-start.ts";
export { toOtlp } from "./export/to-otlp.ts";
export type { Durability } from "./group-commit.ts";
export { openLedger } from "./open-ledger.ts";
export type { Ledger, LedgerOptions } from "./open-ledger.ts";
export { openReader } from "./open-reader.ts";
export type { LedgerReader, ReaderOptions } from "./open-reader.ts";
export { parseLedgerLine, toLedgerLine } from "./record.ts";
export type { LedgerEntry, LedgerRecord, DigestText, LedgerHead } from "./record.ts";
export { startRetention } from "./signing/cut-ledger.ts";
export { openSignedLedger } from "./signing/open-signed-ledger.ts";
export type { SignedLedgerOptions } from "./signing/open-signed-ledger.ts";
export { parsePublicKey } from "./statement.ts";
export type { PublicKey } from "./statement.ts";
export { createSigner } from "./signer.ts";
export type { Signer } from "./signer.ts";
export { verifyExport } from "./signing/verify-export.ts";
export { verifyLedger } from "./verify-ledger.ts";
export type { LedgerVerdict, VerifyOptions } from "./verify-ledger.ts";
