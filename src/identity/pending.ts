/** What a login needs when it returns: sealed in the store, found by its secret, and taken once. */

import type { JsonObject } from "../domain/index.ts";

/** The records of this room that have an end. */
interface EndingRecords {
  put(model: string, id: string, payload: Record<string, unknown>, expiresInSeconds: number): Promise<void>;
  find(model: string, id: string): Promise<{ readonly payload: Record<string, unknown> } | undefined>;
  consume(model: string, id: string): Promise<boolean>;
}

export interface Pending {
  put(secret: string, payload: JsonObject): Promise<void>;
  /** Returns `undefined` for one that is unknown, taken or too old. Of two processes one gets it. */
  take(secret: string): Promise<Readonly<Record<string, unknown>> | undefined>;
}

export function createPending(kind: string, seconds: number, records: EndingRecords): Pending {
  return {
    put: (secret, payload) => records.put(kind, secret, payload, seconds),
    async take(secret) {
      const found = await records.find(kind, secret);
      return found && (await records.consume(kind, secret)) ? found.payload : undefined;
    },
  };
}
