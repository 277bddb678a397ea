/** What the settings of skills change, for `test/settings/settings.test.ts`. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { openSkillGateway } from "../fixtures/skill-gateway.ts";

export const SKILL_OBSERVATIONS: Readonly<Record<string, (context: TestContext) => Promise<void>>> = {
  "skills.overMcp": async (context) => {
    const usual = await openSkillGateway(context);
    const other = await openSkillGateway(context, { skills: { overMcp: true } });
    for (const { approve } of [usual, other]) await approve("one", { run: "return 1" });
    const read = async ({ gateway }: typeof usual): Promise<readonly string[]> => {
      const tools = [...(await gateway.takeSnapshot(gateway.agent)).tools.values()];
      const tool = tools.find(({ origin }) => origin.kind === "skill");
      return tool && gateway.skillFiles ? [...(await gateway.skillFiles(tool)).keys()] : [];
    };
    assert.deepEqual([await read(usual), (await read(other)).length], [[], 3]);
  },
  "skills.folder": async (context) => {
    const usual = await openSkillGateway(context);
    const other = await openSkillGateway(context, { skills: { folder: "approved" } });
    for (const { approve } of [usual, other]) await approve("one", { run: "return 1" });
    const places = ["glovebox.db.skills", "approved"];
    assert.deepEqual(
      [usual, other].map(({ folder }) =>
        places.map((place) => existsSync(join(folder, place, "one", "skill.lock.json"))),
      ),
      [
        [true, false],
        [false, true],
      ],
    );
  },
};
