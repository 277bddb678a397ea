/** The interface of `onboarding`: imports servers from the MCP clients on this machine, registers Glovebox, undoes it. */

export { applyInit, writeEdit } from "./apply-init.ts";
export { CLIENTS } from "./clients.ts";
export { describeEntries } from "./describe-entries.ts";
export { findClientPlaces, listClientPlaces } from "./find-files.ts";
export type { Places, ClientPlace } from "./find-files.ts";
export { planAdd, planConfigAdd, planConfigRemove } from "./plan-add.ts";
export type { AddedServer } from "./plan-add.ts";
export { planInit } from "./plan-init.ts";
export type { InitPlan } from "./plan-init.ts";
export { readPaste } from "./read-paste.ts";
export type { PastedServers } from "./read-paste.ts";
export type { FileEdit } from "./read-target.ts";
export { applyUndo, planUndo } from "./undo-init.ts";
export { openUndoLog } from "./undo-log.ts";
