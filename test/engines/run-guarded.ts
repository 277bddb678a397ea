/** QuickJS with its guards in this process: nothing takes a program over, but what it asks for is noted. */

import { buildImage } from "../../scripts/build-image.ts";
import { REQUEST_ENGINE, parseImage } from "../../src/sandbox/engines/quickjs/image.ts";
import { QuickjsInstance, compileQuickjs } from "../../src/sandbox/engines/quickjs/load-quickjs.ts";
import type { EngineHost } from "../../src/sandbox/engines/quickjs/load-quickjs.ts";
import { createQuickjsRealms } from "../../src/sandbox/engines/quickjs/quickjs-realm.ts";
import { STUCK, trustThrown } from "../../src/sandbox/engines/realm.ts";
import { loadQuickjsImage } from "../../src/sandbox/fixtures/quickjs-image.ts";
import { LOG_LEVELS, TO_GUEST, TO_HOST } from "../../src/sandbox/wire.ts";
import { digestOf } from "../../src/text/index.ts";
import type { CorpusProgram } from "./corpus.ts";
import { LIMITS, NOW_MS, SEED, describeThrown, replyTo } from "./run-programs.ts";
import type { Outcome } from "./run-programs.ts";

const MEMORY_BYTES = 128 * 1024 * 1024;

export interface GuardedOutcome extends Outcome {
  /** Whether the program asked for V8 before it could show a difference. */
  readonly hasAsked: boolean;
}

interface Due {
  readonly kind: number;
  readonly id: number;
  readonly text: string;
  readonly atMs: number;
}

/** Opens one realm after the other, as a child does. */
export function openGuarded(): (program: CorpusProgram) => Promise<GuardedOutcome> {
  let hasAsked = false;
  const { wasm } = loadQuickjsImage();
  const file = buildImage(wasm, { guarded: true });
  const compiled = compileQuickjs(wasm);
  const createInstance = (): QuickjsInstance => noteRequests(new QuickjsInstance(compiled), () => (hasAsked = true));
  const createRealm = createQuickjsRealms(parseImage(file, [digestOf(file)], wasm), createInstance);
  return async (program) => {
    hasAsked = false;
    const [calls, logs, due]: [string[], string[], Due[]] = [[], [], []];
    let ending: string | undefined;
    const realm = await createRealm(MEMORY_BYTES, (kind, id, sent) => {
      const text = sent.toWellFormed(); // as on the wire
      if (kind === TO_HOST.CALL) due.push(answer(id, text, calls));
      else if (kind === TO_HOST.TIMER) due.push({ kind: TO_GUEST.TICK, id, text: "", atMs: Number(text) });
      else if (kind === TO_HOST.LOG) logs.push(`${LOG_LEVELS[id]} ${text}`);
      else if (kind === TO_HOST.DONE)
        ending ??= `returned ${text === "" ? "undefined" : JSON.stringify(JSON.parse(text))}`;
      else ending ??= kind === TO_HOST.THREW ? describeThrown(trustThrown(text)) : "failed LIMIT_SIZE";
    });
    try {
      realm.start(program.code, startText(program), NOW_MS, LIMITS.wallMs);
      while (ending === undefined) {
        const next = due.toSorted((a, b) => a.atMs - b.atMs)[0];
        if (!next) ending = describeThrown(STUCK);
        else realm.deliver({ ...due.splice(due.indexOf(next), 1)[0], ...next, atMs: NOW_MS }, LIMITS.wallMs);
      }
    } catch (thrown) {
      const failure = realm.explain(thrown);
      ending ??= failure.kind === "thrown" ? describeThrown(failure.thrown) : `failed ${failure.overrun}`;
    }
    realm.dispose();
    return { ending, calls, logs, hasAsked };
  };
}

/** Calls leave before timers are due. */
function answer(id: number, text: string, calls: string[]): Due {
  const end = text.indexOf("\n");
  const [address, args] = [text.slice(0, end), text.slice(end + 1)];
  calls.push(`${address} ${args}`);
  const reply = replyTo(address, args);
  if (reply.ok) return { kind: TO_GUEST.REPLY, id, text: reply.json, atMs: -1 };
  return { kind: TO_GUEST.FAILURE, id, text: JSON.stringify(reply.error), atMs: -1 };
}

function startText({ code, namespaces }: CorpusProgram): string {
  const tools = Object.fromEntries(namespaces.map((name) => [name, "echo,fail"]));
  const limits = { ...LIMITS, valueBytes: LIMITS.outputBytes };
  return JSON.stringify({ javascript: code, namespaces: tools, input: null, seed: SEED, limits });
}

/** Takes the guest's requests out of what the realm is asked. */
function noteRequests(instance: QuickjsInstance, onRequest: () => void): QuickjsInstance {
  let host: EngineHost = instance.host;
  const noting: EngineHost = {
    ...host,
    call: (id, args) => {
      if (id !== REQUEST_ENGINE) return host.call(id, args);
      onRequest();
      return 0;
    },
    shouldStop: () => host.shouldStop(),
    mayGrow: (...grown) => host.mayGrow(...grown),
  };
  Object.defineProperty(instance, "host", {
    get: () => noting,
    set: (given: EngineHost) => {
      host = given;
    },
  });
  return instance;
}
