/** What the host gives a program at its start, beside its tools: `glovebox`, `secrets`, and the network if it is allowed. */

import type { EncodeLimits } from "./codec.ts";
import { ToolError } from "./errors.ts";
import { RealPromise, create, defineOwn, defineProperty, freeze, isArray, keys } from "./intrinsics.ts";
import { createTimers } from "./timers.ts";
import { createStub, isProtocol } from "./tools.ts";
import type { Send } from "./tools.ts";
import { AbortController, AbortSignal, Headers, createFetch, createTimeout } from "./web/index.ts";

/** Search for tools, read kept results and draft skills: calls like any other. It only names the arguments; the host checks them. */
export function createGlovebox(send: Send, limits: EncodeLimits): object {
  const search = createStub("glovebox.search", send, limits);
  const describe = createStub("glovebox.describe", send, limits);
  const readResult = createStub("glovebox.results.read", send, limits);
  const draft = createStub("glovebox.skills.draft", send, limits);
  return freeze({
    search: freeze((query?: unknown) => search(typeof query === "string" ? { query } : query)),
    describe: freeze((names?: unknown, detail?: unknown) =>
      describe({ names: isArray(names) ? names : [names], detail }),
    ),
    results: freeze({
      // One object of named arguments is accepted too, as with every other tool.
      read: freeze((handle?: unknown, options?: object) =>
        readResult(typeof handle === "object" && handle !== null ? handle : { ...options, handle }),
      ),
    }),
    skills: freeze({ draft: freeze((request?: unknown) => draft(request)) }),
  });
}

/** The globals of a program whose network policy allows something. The host decides about each request. */
export function createNetwork(send: Send, limits: EncodeLimits): Readonly<Record<string, unknown>> {
  defineOwn(AbortSignal, "timeout", createTimeout(createTimers(send).setTimeout), false);
  return { fetch: createFetch(createStub("glovebox.fetch", send, limits)), Headers, AbortController, AbortSignal };
}

/** The `fetch` of every other program. */
export function refuseNetwork(): Promise<never> {
  const message = "The sandbox has no network";
  const hint = "Call a tool of an upstream instead, or ask the operator to allow the host in sandbox.networkPolicy";
  return new RealPromise((_, reject) => reject(new ToolError("EGRESS_DENIED", message, false, hint)));
}

/**
 * Tokens by name: only the host knows the secrets behind them. Frozen. A name that was not granted throws and lists the
 * granted ones, so that a typo does not become "undefined".
 */
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
