/** The front door of `skills`: their versions, their review, and what programs get of them. */

export { writeFolder } from "./folder/approved-folder.ts";
export { readFolder } from "./folder/read-folder.ts";
export type { SkillDesk } from "./open-desk.ts";
export { offerSkills, openSkillRecords } from "./open-skills.ts";
export type { GatewaySkills } from "./open-skills.ts";
export { verifyFolder } from "./verify-folder.ts";
export type { SkillReview } from "./review/review.ts";
export type { SkillFiles } from "./skill.ts";
export type { ListedSkill } from "./versions.ts";
