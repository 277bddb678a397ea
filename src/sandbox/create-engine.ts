/** Chooses the engine by its name. */

import type { EngineName } from "../domain/index.ts";

import type { Engine } from "./engine.ts";
import { findNodeForV8, requireNodeForV8 } from "./engines/isolate/find-node.ts";
import { createIsolateEngine } from "./engines/isolate/isolate-engine.ts";
import { GUARDED_IMAGE_FILE, createQuickjsEngine } from "./engines/quickjs/quickjs-engine.ts";
import { createWorkerdEngine } from "./engines/workerd/workerd-engine.ts";

const CREATE: Readonly<Record<EngineName, (node: string) => Engine>> = {
  isolate: (node) => createIsolateEngine(requireNodeForV8(node)),
  quickjs: createQuickjsEngine,
  workerd: () => createWorkerdEngine(),
  auto: createAuto,
};

/** QuickJS starts every program at once, and V8 takes over what computes. Without a Node for V8 programs stay in QuickJS. */
function createAuto(node: string): Engine {
  const forV8 = findNodeForV8(node);
  if (!forV8) return createQuickjsEngine(node);
  const quickjs = createQuickjsEngine(node, GUARDED_IMAGE_FILE);
  return { ...quickjs, name: "auto", startsOn: "quickjs", faster: createIsolateEngine(forV8) };
}

/** The operator gets the named engine or an error. `node` is the Node of the gateway. */
export function createEngine(name: EngineName, node: string): Engine {
  return CREATE[name](node);
}
