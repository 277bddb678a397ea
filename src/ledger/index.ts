/** The interface of `ledger`. */

export { startExports } from "./export/start-exports.ts";
export { toOtlp, toOtlpAttribute, toOtlpResource } from "./export/to-otlp.ts";
export type { Ledger } from "./open-ledger.ts";
export { openReader } from "./open-reader.ts";
export type { LedgerReader } from "./open-reader.ts";
export { recordLife } from "./record-start.ts";
export { createPreview, parseDetail, parseLedgerLine } from "./record.ts";
export type { LedgerEntry, LedgerRecord } from "./record.ts";
export { checkSignedText, createSigner } from "./signer.ts";
export { startRetention } from "./signing/cut-ledger.ts";
export { openSignedLedger } from "./signing/open-signed-ledger.ts";
export { verifyExport } from "./signing/verify-export.ts";
export { parsePublicKey } from "./statement.ts";
export type { LedgerVerdict } from "./chain-check.ts";
