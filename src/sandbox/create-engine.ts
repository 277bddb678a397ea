/** Chooses the engine by its name. */

import type { EngineName } from "../domain/index.ts";

import type { Engine } from "./engine.ts";
import { createIsolateEngine } from "./engines/isolate/isolate-engine.ts";
import { createQuickjsEngine } from "./engines/quickjs/quickjs-engine.ts";
import { createWorkerdEngine } from "./engines/workerd/workerd-engine.ts";

const CREATE: Readonly<Record<EngineName, (node: string) => Engine>> = {
  isolate: createIsolateEngine,
  quickjs: createQuickjsEngine,
  workerd: () => createWorkerdEngine(),
};

/** Without fallback: the operator gets the named engine or an error. `node` is the Node that runs children. */
export function createEngine(name: EngineName, node: string): Engine {
  return CREATE[name](node);
}
