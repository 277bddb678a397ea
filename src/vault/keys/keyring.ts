/** Holds the master key of one process and reloads it when the store is sealed with another one. */

import { loadKey } from "./load-key.ts";
import type { KeyOptions } from "./load-key.ts";
import type { MasterKey } from "../seal.ts";

export interface Keyring {
  /** Returns the key that the store is sealed with. After a failure the next call tries again. */
  key(): Promise<MasterKey>;
  /** Sets the key after a rotation by this process. */
  adopt(key: MasterKey): void;
  forget(): void;
}

/** Loads the key once per rotation, however many callers ask at the same time. */
export function createKeyring(options: KeyOptions): Keyring {
  let known: MasterKey | undefined;
  let loading: Promise<MasterKey> | undefined;
  const load = async (): Promise<MasterKey> => {
    try {
      return await loadKey(options, known);
    } finally {
      loading = undefined;
    }
  };
  return {
    async key() {
      if (known && (await options.store.secrets.keyCheck()) === known.check) return known;
      loading ??= load();
      const key = await loading;
      known = key;
      return key;
    },
    adopt(key) {
      known = key;
    },
    forget() {
      known = undefined;
    },
  };
}
