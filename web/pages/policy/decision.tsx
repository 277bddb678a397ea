/** A decision of the rules as icon, word and color. */

import { Status } from "../../parts/status.tsx";

const TONES = { allow: "ok", ask: "wait", deny: "bad" } as const;

export function DecisionWord({ name }: { readonly name: keyof typeof TONES }) {
  return <Status tone={TONES[name]}>{name}</Status>;
}
