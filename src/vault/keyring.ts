/** Holds the master key of one process, and notices when the store is sealed with another one. */

import { loadKey } from "./load-key.ts";
import type { KeyOptions } from "./load-key.ts";
import type { MasterKey } from "./seal.ts";

export interface Keyring {
  /** The key that the store is sealed with. After a failure the next one who asks tries again. */
  key(): Promise<MasterKey>;
  /** A rotation of our own led to this key. */
  adopt(key: MasterKey): void;
  forget(): void;
}

/** Loads the key once for each rotation, however many ask at the same time. */
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
