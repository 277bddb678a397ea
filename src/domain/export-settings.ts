/** Where the operator wants the ledger sent: from the configuration to the room that sends it. */

import type { SecretTemplate } from "./upstream.ts";

export type ExportSettings = {
  /** Permanent name of the destination, such as `file:/var/log/ledger.jsonl`. The export's progress is stored under it. */
  readonly id: string;
} & (
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "syslog"; readonly transport: "tcp" | "udp"; readonly host: string; readonly port: number }
  | { readonly kind: "otlp"; readonly url: string; readonly headers: Readonly<Record<string, SecretTemplate>> }
);
