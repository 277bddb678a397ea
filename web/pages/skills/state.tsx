/** The state of a version: always an icon, a word and a color. */

import type { SkillAnswer } from "../../../src/surfaces/admin/contract/skills.ts";
import { Status } from "../../parts/status.tsx";

const STATES = {
  draft: ["idle", "draft"],
  pending_review: ["wait", "waits for review"],
  approved: ["ok", "approved"],
  rejected: ["bad", "rejected"],
  revoked: ["bad", "revoked"],
  retired: ["idle", "retired"],
} as const;

export function SkillState({ version }: { readonly version: Pick<SkillAnswer, "state" | "frozen"> }) {
  if (version.frozen !== undefined) return <Status tone="bad">frozen</Status>;
  const [tone, word] = STATES[version.state];
  return <Status tone={tone}>{word}</Status>;
}
