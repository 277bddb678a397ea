/** The front door of `audit`. */

export { openLedgerExporter } from "./export/open-exporter.ts";
export type { LedgerExporter, LedgerExporterOptions, Sink } from "./export/open-exporter.ts";
export { openFileSink } from "./export/open-file-sink.ts";
export { createOtlpSink, createSyslogSink } from "./export/sinks.ts";
export { toOtlp } from "./export/to-otlp.ts";
export type { Durability } from "./group-commit.ts";
export { openLedger } from "./open-ledger.ts";
export type { Ledger, LedgerOptions } from "./open-ledger.ts";
export { openReader } from "./open-reader.ts";
export type { LedgerReader, ReaderOptions } from "./open-reader.ts";
export { parseLedgerLine, toLedgerLine } from "./record.ts";
export type { LedgerEntry, LedgerRecord, DigestText, LedgerHead } from "./record.ts";
export { cutLedger } from "./signing/cut-ledger.ts";
export type { CutOptions, Retention } from "./signing/cut-ledger.ts";
export { openSignedLedger } from "./signing/open-signed-ledger.ts";
export type { SignedLedgerOptions } from "./signing/open-signed-ledger.ts";
export { parsePublicKey } from "./statement.ts";
export type { PublicKey } from "./statement.ts";
export { createSigner } from "./signer.ts";
export type { Signer } from "./signer.ts";
export { verifyExport } from "./signing/verify-export.ts";
export { verifyLedger } from "./verify-ledger.ts";
export type { LedgerVerdict, VerifyOptions } from "./verify-ledger.ts";
