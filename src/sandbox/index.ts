/** The front door of `sandbox`: runs a program in an isolate within limits. It imports no room that holds data. */

export { createEngine } from "./create-engine.ts";
export { timebox } from "./timebox.ts";
export { confineEngine } from "./confinement/confine-engine.ts";
export type { ConfinedEngine, Engine } from "./engine.ts";
export { openSandbox } from "./open-sandbox.ts";
export { openNestedSandboxes, openSpareSandbox } from "./open-spare-sandbox.ts";
export type { Delivery, ImprovisedAnswer, Tape, TapeStart } from "./tape.ts";
export type {
  ProgramEnding,
  GuestHost,
  Sandbox,
  SandboxJob,
  PoolLoad,
  SandboxResult,
  SandboxState,
  SandboxUsage,
} from "./sandbox.ts";
