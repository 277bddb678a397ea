/**
 * The globals of one program, and the guest's side of the protocol of `src/sandbox/wire.ts`. Most of it is prepared
 * without a host, so that an engine with snapshots prepares it once for all realms.
 */

import { TO_GUEST, TO_HOST } from "../src/sandbox/wire.ts";
import type { StartMessage, ThrownMessage } from "../src/sandbox/wire.ts";
import { createGlovebox, createNetwork, createSecrets, refuseNetwork } from "./bindings.ts";
import { installClock, random, randomUuid, seedRandom, setNow } from "./clock.ts";
import { EncodeProblem, encode } from "./codec.ts";
import type { EncodeLimits } from "./codec.ts";
import { createConsole } from "./console.ts";
import { fixEngine } from "./engine-fixes.ts";
import { guardRejection } from "./engine-guards.ts";
import { ToolError, describeThrown } from "./errors.ts";
import { HELPERS } from "./helpers.ts";
import { defineOwn, defineProperty, freeze, keys, parseJson, promiseThen, stringifyJson } from "./intrinsics.ts";
import { lockDown, removeGlobals } from "./lockdown.ts";
import { countTimers, createTimers, fireTimer } from "./timers.ts";
import { countCalls, createNamespace, settleCall } from "./tools.ts";
import type { Send } from "./tools.ts";
import { TextDecoder, TextEncoder, URLSearchParams, atob, btoa, createUrl, structuredClone } from "./web/index.ts";
import type { UrlHost } from "./web/index.ts";

/** The functions of a prepared realm that the child calls. */
export interface Guest {
  start(program: () => Promise<unknown>, startText: string, atMs: number): void;
  deliver(kind: number, id: number, text: string, atMs: number): void;
}

/** The functions of the process behind the realm. */
export interface Host {
  readonly send: Send;
  readonly parseUrl: UrlHost["parse"];
  readonly setUrlPart: UrlHost["set"];
}

/** A placeholder until `enterWorld`; programs start after that. */
let host: Host = { send: () => undefined, parseUrl: () => undefined, setUrlPart: () => "" };
const send: Send = (kind, id, text) => host.send(kind, id, text);

let output: EncodeLimits = { bytes: 0, depth: 0 };
let result: EncodeLimits = output;

/** Once for a realm, or for the snapshot that realms are made from. */
export function prepareWorld(): void {
  lockDown();
  fixEngine();
  installClock();
  Math.random = random;
  defineGlobals({
    console: createConsole(send, () => output),
    ...createTimers(send),
    crypto: freeze({ randomUUID: randomUuid }),
    URL: createUrl(
      (href, base) => host.parseUrl(href, base),
      (href, part, value) => host.setUrlPart(href, part, value),
    ),
    URLSearchParams,
    TextEncoder,
    TextDecoder,
    structuredClone,
    atob,
    btoa,
    ToolError,
    fetch: refuseNetwork,
    ...HELPERS,
  });
}

/** Called in every realm: removes what an engine adds to realms from snapshots, and connects the host. */
export function enterWorld(realHost: Host): Guest {
  removeGlobals();
  host = realHost;
  return {
    start: (program, startText, atMs) => start(program, parseJson(startText) as StartMessage, atMs),
    deliver,
  };
}

function start(program: () => Promise<unknown>, message: StartMessage, atMs: number): void {
  const { limits } = message;
  output = { bytes: limits.outputBytes, depth: limits.depth };
  result = { bytes: limits.valueBytes, depth: limits.depth };
  setNow(atMs);
  seedRandom(message.seed);
  const names = keys(message.namespaces);
  const argumentLimits = { bytes: limits.argumentBytes, depth: limits.depth };
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    defineBinding(name, createNamespace(name, message.namespaces[name] ?? "", send, argumentLimits));
  }
  defineBinding("glovebox", createGlovebox(send, argumentLimits));
  if (message.network === true) defineGlobals(createNetwork(send, argumentLimits));
  defineBinding("secrets", createSecrets(message.secrets ?? {}));
  defineBinding("input", message.input === null ? undefined : parseJson(message.input));
  promiseThen(
    program(),
    (value) => finish(value),
    (thrown) => fail("thrown", thrown),
  );
}

function deliver(kind: number, id: number, text: string, atMs: number): void {
  setNow(atMs);
  if (kind === TO_GUEST.TICK) {
    try {
      fireTimer(id);
    } catch (thrown) {
      fail("thrown", thrown);
    }
    return;
  }
  if (kind === TO_GUEST.FAILURE) guardRejection(countCalls() + countTimers());
  settleCall(id, kind === TO_GUEST.REPLY, text);
}

function finish(value: unknown): void {
  try {
    send(TO_HOST.DONE, 0, encode(value, result) ?? "");
  } catch (problem) {
    if (!(problem instanceof EncodeProblem)) return fail("thrown", problem);
    refuseResult(problem);
  }
}

function refuseResult({ reason, place, isItem }: EncodeProblem): void {
  if (reason === "size") return send(TO_HOST.OVERRUN, 0, "result");
  if (reason === "depth") return send(TO_HOST.OVERRUN, 0, "depth");
  const remedy = isItem ? "; write await Promise.all(list) before returning" : "; await it before returning";
  const problem = reason === "circular" ? "itself" : "a promise" + (place === "" ? "" : " at " + place) + remedy;
  fail("unserializable", new TypeError("The result contains " + problem));
}

function fail(kind: ThrownMessage["kind"], thrown: unknown): void {
  const message: ThrownMessage = { kind, ...describeThrown(thrown) };
  // Without a prototype, the program cannot have planted a `toJSON`.
  send(TO_HOST.THREW, 0, stringifyJson({ __proto__: null, ...message }));
}

function defineGlobals(values: Readonly<Record<string, unknown>>): void {
  for (const name of keys(values)) defineOwn(globalThis, name, values[name], false);
}

/** A namespace or the input: a program can shadow it in its own scope, but not replace it. */
function defineBinding(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: false, enumerable: true, configurable: false });
}
