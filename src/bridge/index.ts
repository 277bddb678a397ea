/** The front door of `bridge`: carries one call across the wall, step by step. */

export { createBuiltinTool } from "./builtin.ts";
export type { Builtin, SkillPowers } from "./builtin.ts";
export { ExecutionSuspended } from "./crossing.ts";
export type { AskDecision, BridgeOptions, CallSkill, JournaledCall } from "./crossing.ts";
export { openBridge } from "./open-bridge.ts";
export type { Bridge } from "./open-bridge.ts";
export { callsOverrun } from "./recorder.ts";
export { rootOf } from "./steps/call-skill.ts";
