/**
 * The guest as one script, built by `scripts/build-guest.ts`, for engines that run one in a bare realm. It leaves a single
 * function behind, which removes itself when the child calls it.
 */

import { installEngineGuards } from "./engine-guards.ts";
import { defineProperty } from "./intrinsics.ts";
import { enterWorld, prepareWorld } from "./world.ts";
import type { Guest, Host } from "./world.ts";

function boot(
  send: Host["send"],
  parseUrl: Host["parseUrl"],
  setUrlPart: Host["setUrlPart"],
  requestEngine?: (reason: string) => void,
): Guest {
  Reflect.deleteProperty(globalThis, "__boot");
  if (requestEngine) installEngineGuards(requestEngine);
  return enterWorld({ send, parseUrl, setUrlPart });
}

prepareWorld();
defineProperty(globalThis, "__boot", { value: boot, configurable: true });
