/** `secrets` of a program: texts that stand for secrets. The host knows what they mean; nothing in here does. */

import { ToolError } from "./errors.ts";
import { create, defineProperty, freeze, keys } from "./intrinsics.ts";
import { isProtocol } from "./tools.ts";

/** Frozen. A name that was not granted is refused with those that were, so that a typo does not become "undefined". */
export function createSecrets(tokens: Readonly<Record<string, string>>): object {
  const names = keys(tokens);
  const granted = create(null) as Readonly<Record<string, string>>;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    defineProperty(granted, name, { value: tokens[name], writable: false, enumerable: true, configurable: false });
  }
  return new Proxy(freeze(granted), {
    get: (target, key) => {
      const token = target[key as string];
      if (token !== undefined || typeof key !== "string" || isProtocol(key)) return token;
      throw refuseName(key, names);
    },
  });
}

function refuseName(name: string, names: readonly string[]): ToolError {
  let list = "";
  for (let index = 0; index < names.length; index += 1) list += (index === 0 ? "" : ", ") + (names[index] as string);
  const rest = names.length === 0 ? "none is" : "granted are " + list;
  const message = "No secret " + name + " is granted to this program; " + rest;
  return new ToolError("POLICY_DENIED", message, false, "An operator grants a secret to programs with sandbox.secrets");
}
