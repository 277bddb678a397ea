/** The figures of all approved skills, from the ledger. */

import type { Instant } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { parseApproval } from "./sign-version.ts";
import { SKILLS } from "./skill.ts";
import { measureUsage } from "./usage/measure-usage.ts";
import type { MeasuredSkill, SkillUsage } from "./usage/measure-usage.ts";
import { readVersion } from "./verify-version.ts";

export interface SkillUsageDesk {
  /** Of approved skills, by name. */
  usage(): Promise<readonly SkillUsage[]>;
}

/** The newest calls of all skills together that are counted. */
const MOST_CALLS = 10_000;

export function openSkillUsage(
  { skills, ledger }: Pick<Store, "ledger" | "skills">,
  now: () => Instant,
): SkillUsageDesk {
  return {
    async usage() {
      const approved = (await skills.list()).filter(({ state }) => state === "approved");
      const measured = approved.map(async (row): Promise<MeasuredSkill> => {
        const { name, address } = row;
        const version = await readVersion(row, { store: skills });
        const programChars = version.ok ? version.skill.program.trim().length : 0;
        return { name, address, programChars, approvedAt: parseApproval(row.signature)?.at ?? row.createdAt };
      });
      const query = { action: "call.ended", subject: `${SKILLS}.*`, limit: MOST_CALLS };
      return measureUsage(await Promise.all(measured), await ledger.search(query), now());
    },
  };
}
