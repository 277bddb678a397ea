/** The front door of `sandbox`: runs a program in an isolate within limits. It imports no room but `domain`. */

export { createIsolateEngine } from "./engines/isolate/isolate-engine.ts";
export { createQuickjsEngine } from "./engines/quickjs/quickjs-engine.ts";
export { createWorkerdEngine } from "./engines/workerd/workerd-engine.ts";
export { confineEngine } from "./confinement/confine-engine.ts";
export type { ConfinedEngine } from "./confinement/confine-engine.ts";
export type { Engine } from "./engine.ts";
export { openSandbox } from "./open-sandbox.ts";
export type { SandboxOptions } from "./open-sandbox.ts";
export type { Delivery, Tape, TapeStart } from "./tape.ts";
export type { Ending, GuestHost, Sandbox, SandboxJob, SandboxLoad, SandboxResult, SandboxUsage } from "./sandbox.ts";
