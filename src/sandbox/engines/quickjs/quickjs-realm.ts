/** A QuickJS context with the guest in it. Handles of the guest stay in here; only strings and numbers leave. */

import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";

import { GUEST_SOURCE } from "../../guest.generated.ts";
import { PROGRAM_FILE, PROGRAM_TAIL, TO_HOST } from "../../wire.ts";
import type { ThrownMessage } from "../../wire.ts";
import type { Frame } from "../../frames.ts";
import { trustThrown } from "../realm.ts";
import type { CreateRealm, ProgramFailure, Realm, Send } from "../realm.ts";
import { parseUrlParts, setUrlPart } from "../url-parts.ts";
import { ContextValues, GuestThrew, HEAD, withAuthorStack } from "./context-values.ts";
import { FIRST_BYTES, MemoryExhausted, loadQuickjs } from "./load-quickjs.ts";
import type { QuickjsInstance, WasmModule } from "./load-quickjs.ts";

const GUEST_FILE = "guest.js";
const OUT_OF_MEMORY: ProgramFailure = { kind: "overrun", overrun: "memory" };

/** Realms of one compiled engine, each with a separate instance. */
export function createQuickjsRealms(wasm: WasmModule): CreateRealm {
  return async (memoryBytes, send) => toRealm(await loadQuickjs(wasm, memoryBytes), memoryBytes, send);
}

/**
 * Values are not freed one by one, which could run code of the program: the instance is dropped as a whole. One that has
 * grown is collected at once, because the kernel counts its memory against the next program.
 */
function toRealm(instance: QuickjsInstance, memoryBytes: number, send: Send): Realm {
  const held: { world: QuickjsWorld | undefined } = { world: new QuickjsWorld(instance, send) };
  const world = (): QuickjsWorld => {
    if (!held.world) throw new TypeError("The realm is disposed of");
    return held.world;
  };
  return {
    memoryBytes,
    start: (javascript, startText, atMs, timeoutMs) => world().start(javascript, startText, atMs, timeoutMs),
    deliver: (frame, timeoutMs) => world().deliver(frame, timeoutMs),
    explain: (thrown) => world().explain(thrown),
    usage: () => world().usage(),
    dispose() {
      const hasGrown = held.world?.hasGrown ?? false;
      held.world = undefined;
      if (hasGrown) globalThis.gc?.();
    },
  };
}

class QuickjsWorld {
  readonly #instance: QuickjsInstance;
  readonly #crossing: ContextValues;
  readonly #send: Send;
  readonly #start: QuickJSHandle;
  readonly #deliver: QuickJSHandle;
  #deadline = Infinity;
  /** Inside the executor of a promise an interrupt becomes a rejection, which a program can catch; this stays. */
  #isExpired = false;
  #usedBefore = process.cpuUsage();

  constructor(instance: QuickjsInstance, send: Send) {
    const { context, runtime } = instance;
    this.#instance = instance;
    this.#crossing = new ContextValues(context);
    this.#send = send;
    runtime.setInterruptHandler(() => this.#shouldStop());
    const guest = this.#boot(context);
    this.#start = context.getProp(guest, "start");
    this.#deliver = context.getProp(guest, "deliver");
  }

  get hasGrown(): boolean {
    return this.#instance.sizeBytes > FIRST_BYTES;
  }

  start(javascript: string, startText: string, atMs: number, timeoutMs: number): void {
    const crossing = this.#crossing;
    this.#usedBefore = process.cpuUsage();
    this.#within(timeoutMs, () => {
      const program = crossing.evaluate(`${HEAD}${javascript}${PROGRAM_TAIL}`, PROGRAM_FILE);
      crossing.give(this.#start, program, startText, atMs);
    });
  }

  deliver({ kind, id, text, atMs }: Frame, timeoutMs: number): void {
    this.#within(timeoutMs, () => this.#crossing.give(this.#deliver, kind, id, text, atMs));
  }

  /** Any other exception is a fault of the engine itself, and ends the child. */
  explain(thrown: unknown): ProgramFailure {
    if (this.#isExpired) return { kind: "overrun", overrun: "wall" };
    if (thrown instanceof MemoryExhausted) return OUT_OF_MEMORY;
    if (thrown instanceof GuestThrew) {
      return this.#isOutOfMemory(thrown.thrown) ? OUT_OF_MEMORY : { kind: "thrown", thrown: thrown.thrown };
    }
    // Native recursion can use up the stack of the process before the engine's own limit is reached.
    if (!(thrown instanceof RangeError)) throw thrown;
    return { kind: "thrown", thrown: { kind: "thrown", name: "RangeError", message: thrown.message, stack: "" } };
  }

  usage(): string {
    const { user, system } = process.cpuUsage(this.#usedBefore);
    return `${user + system} ${this.#instance.sizeBytes}`;
  }

  #shouldStop(): boolean {
    if (performance.now() < this.#deadline) return false;
    this.#isExpired = true;
    return true;
  }

  /** Runs `act` and then every job that waits, all before the deadline. */
  #within(timeoutMs: number, act: () => void): void {
    this.#deadline = performance.now() + timeoutMs;
    act();
    const ran = this.#instance.runtime.executePendingJobs();
    if (ran.error) throw this.#crossing.describe(ran.error, "thrown");
    if (this.#isExpired) throw new RangeError("The time is over");
  }

  #boot(context: QuickJSContext): QuickJSHandle {
    const crossing = this.#crossing;
    crossing.evaluate(GUEST_SOURCE, GUEST_FILE).dispose();
    const boot = context.getProp(context.global, "__boot");
    const send = context.newFunction("send", (kind, id, text) => {
      this.#take(context.getNumber(kind), context.getNumber(id), crossing.read(text));
    });
    const parse = context.newFunction("parse", (href, base) => {
      const from = base !== undefined && context.typeof(base) === "string" ? crossing.read(base) : undefined;
      const parts = parseUrlParts(crossing.read(href), from);
      return parts === undefined ? undefined : crossing.write(parts);
    });
    const set = context.newFunction("set", (href, part, value) =>
      crossing.write(setUrlPart(crossing.read(href), crossing.read(part), crossing.read(value))),
    );
    return crossing.call(boot, send, parse, set);
  }

  /** Forwards one frame of the guest. Frames of an expired program come after its end and are dropped. */
  #take(kind: number, id: number, text: string): void {
    if (this.#isExpired) return;
    if (kind !== TO_HOST.THREW) return this.#send(kind, id, text);
    const thrown = trustThrown(text);
    if (this.#isOutOfMemory(thrown)) return this.#send(TO_HOST.OVERRUN, 0, "memory");
    this.#send(kind, id, JSON.stringify(withAuthorStack(thrown)));
  }

  /**
   * Without room for an error object the engine throws `null`. A program can throw the same; it is then ended for the
   * memory that it did ask for.
   */
  #isOutOfMemory({ name, message }: ThrownMessage): boolean {
    if (name === "InternalError" && message === "out of memory") return true;
    return this.#instance.isFull && name === "" && (message === "null" || message === "");
  }
}
