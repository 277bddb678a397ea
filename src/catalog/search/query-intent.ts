/** The intent of a query, from its first known verb: read, write or destroy. */

import type { Effect } from "../../domain/index.ts";
import { splitWords, stem } from "./split-terms.ts";

type Intent = Exclude<Effect, "unknown">;

const WORDS: Readonly<Record<Intent, string>> = {
  read:
    "list show get find search read fetch view see look lookup browse display check count compare describe explain " +
    "download export retrieve query who what which when where how why is are does did has",
  write:
    "create add make new post send write update edit change set schedule upload put move rename assign invite share merge " +
    "close start stop run restart reboot enable disable subscribe book pay refund buy approve reject generate register " +
    "insert append attach publish deploy trigger launch copy duplicate fork import install reply comment mark lock unlock " +
    "resize restore reset save submit star follow give allow grant block ban tag label notify transfer upgrade rerun retry",
  destroy: "delete remove erase drop destroy purge trash uninstall unsubscribe revoke wipe clear",
};

const INTENTS: ReadonlyMap<string, Intent> = new Map(
  (["read", "write", "destroy"] as const).flatMap((intent) =>
    WORDS[intent].split(" ").map((word) => [stem(word), intent] as const),
  ),
);

/** The factor on the score of a tool whose effect differs from the intent. An unknown effect is not penalized. */
const FACTORS: Readonly<Record<Intent, Readonly<Record<Effect, number>>>> = {
  read: { read: 1, write: 0.8, destroy: 0.7, unknown: 1 },
  write: { read: 0.75, write: 1, destroy: 0.8, unknown: 1 },
  destroy: { read: 0.65, write: 0.85, destroy: 1, unknown: 1 },
};

const NEUTRAL: Readonly<Record<Effect, number>> = { read: 1, write: 1, destroy: 1, unknown: 1 };

export function weighEffects(query: string): Readonly<Record<Effect, number>> {
  for (const word of splitWords(query)) {
    const intent = INTENTS.get(stem(word));
    if (intent) return FACTORS[intent];
  }
  return NEUTRAL;
}
