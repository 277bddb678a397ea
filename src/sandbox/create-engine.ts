/** Chooses the engine by its name. */

import type { EngineName } from "../domain/index.ts";

import type { Engine } from "./engine.ts";
import { createIsolateEngine } from "./engines/isolate/isolate-engine.ts";
import { GUARDED_IMAGE_FILE, createQuickjsEngine } from "./engines/quickjs/quickjs-engine.ts";
import { createWorkerdEngine } from "./engines/workerd/workerd-engine.ts";

const CREATE: Readonly<Record<EngineName, (node: string) => Engine>> = {
  isolate: createIsolateEngine,
  quickjs: createQuickjsEngine,
  workerd: () => createWorkerdEngine(),
  /** QuickJS starts every program at once, and V8 takes over what computes. */
  auto: (node) => ({
    ...createQuickjsEngine(node, GUARDED_IMAGE_FILE),
    name: "auto",
    startsOn: "quickjs",
    faster: createIsolateEngine(node),
  }),
};

/** Without fallback: the operator gets the named engine or an error. `node` is the Node that runs children. */
export function createEngine(name: EngineName, node: string): Engine {
  return CREATE[name](node);
}
