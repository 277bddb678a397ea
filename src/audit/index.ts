/** The front door of `audit`. */

export { cleanText } from "./clean-text.ts";
export type { CleanOptions } from "./clean-text.ts";
export { digestOf } from "./digest-of.ts";
export type { Pace } from "./group-commit.ts";
export { openLedger } from "./open-ledger.ts";
export type { Ledger, LedgerOptions } from "./open-ledger.ts";
export { parseLedgerLine, toLedgerLine } from "./record.ts";
export type { AuditEntry, AuditRecord, DigestText, LedgerHead } from "./record.ts";
export { redactPaths } from "./redact-paths.ts";
export { verifyLedger } from "./verify-ledger.ts";
export type { LedgerVerdict, VerifyOptions } from "./verify-ledger.ts";
