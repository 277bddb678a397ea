/** What a person writes: the type of the configuration, and its carrier for `glovebox.config.ts`. */

import type { Adapter } from "../domain/index.ts";
import type { WrittenAdapter, WrittenConfig } from "./schema.ts";

type DeepReadonly<Value> = Value extends object ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> } : Value;

/** A configuration as a person writes it: the content of the file, or the argument of the library. */
export type GloveboxConfig = DeepReadonly<Omit<WrittenConfig, "adapters">> & {
  /** Adapters themselves, in a file of TypeScript or in the library, or the paths of modules that export one. */
  readonly adapters?: readonly (string | Adapter | AdapterEntry)[] | undefined;
};

type AdapterEntry = DeepReadonly<Omit<Exclude<WrittenAdapter, string>, "module">> & {
  readonly module: string | Adapter;
};

/** Returns what it is given; it checks nothing, because the file is checked when it is loaded. */
export function defineConfig(config: GloveboxConfig): GloveboxConfig {
  return config;
}
