/** A QuickJS context with the guest in it. Handles of the guest stay in here; only strings and numbers leave. */

import { PROGRAM_TAIL, TO_HOST } from "../../wire.ts";
import type { ThrownMessage } from "../../wire.ts";
import type { Frame } from "../../frames.ts";
import { trustThrown } from "../realm.ts";
import type { CreateRealm, ProgramFailure, Realm, Send } from "../realm.ts";
import { parseUrlParts, setUrlPart } from "../url-parts.ts";
import { ContextValues, GuestThrew, HEAD, withAuthorStack } from "./context-values.ts";
import { EngineRequests } from "./engine-requests.ts";
import { PARSE_URL, REQUEST_ENGINE, SEND, SET_URL_PART, canReset, findDifference, reset } from "./image.ts";
import type { Image } from "./image.ts";
import { FIRST_BYTES, MemoryExhausted, NO_HOST } from "./load-quickjs.ts";
import type { EngineHost, Handle, QuickjsInstance } from "./load-quickjs.ts";

/** So many resets are trusted before all memory is compared with the image. */
const COMPARE_EVERY = 1_000;
const OUT_OF_MEMORY: ProgramFailure = { kind: "overrun", overrun: "memory" };

/**
 * Realms that all start from one image. The instance of a realm that was disposed of is reset and serves the next one,
 * unless something about it is unusual: then it is dropped.
 */
export function createQuickjsRealms(
  image: Image,
  createInstance: () => QuickjsInstance,
  compareEvery = COMPARE_EVERY,
): CreateRealm {
  let clean: QuickjsInstance | undefined;
  let resets = 0;

  const take = (): QuickjsInstance => {
    const instance = clean ?? createInstance();
    if (!clean) reset(instance, image);
    clean = undefined;
    return instance;
  };

  const giveBack = (instance: QuickjsInstance, sawViolation: boolean): void => {
    instance.host = NO_HOST;
    if (sawViolation || !canReset(instance, image)) return drop(instance);
    reset(instance, image);
    resets += 1;
    if (resets % compareEvery === 0) requireImage(instance, image);
    clean = instance;
  };

  return (memoryBytes, send, request) => {
    const instance = take();
    instance.setCeiling(memoryBytes);
    const world = new QuickjsWorld(instance, image, { send, requests: new EngineRequests(request) });
    return toRealm(world, memoryBytes, () => giveBack(instance, world.sawViolation));
  };
}

/** A difference is a fault of the reset itself, and programs before this one may have seen it too: the child ends. */
function requireImage(instance: QuickjsInstance, image: Image): void {
  const address = findDifference(instance, image);
  if (address !== undefined) throw new TypeError(`Address ${address} differs from the image after a reset`);
}

/** Memory that has grown is collected at once, because the kernel counts it against the next program. */
function drop({ bytes }: QuickjsInstance): void {
  if (bytes.length > FIRST_BYTES) globalThis.gc?.();
}

function toRealm(open: QuickjsWorld, memoryBytes: number, giveBack: () => void): Realm {
  let held: QuickjsWorld | undefined = open;
  const world = (): QuickjsWorld => {
    if (!held) throw new TypeError("The realm is disposed of");
    return held;
  };
  return {
    memoryBytes,
    start: (...args) => world().start(...args),
    deliver: (frame, timeoutMs) => world().deliver(frame, timeoutMs),
    explain: (thrown) => world().explain(thrown),
    usage: () => world().usage(),
    dispose() {
      const isOpen = held !== undefined;
      held = undefined;
      if (isOpen) giveBack();
    },
  };
}

class QuickjsWorld implements EngineHost {
  readonly #instance: QuickjsInstance;
  readonly #image: Image;
  readonly #values: ContextValues;
  readonly #send: Send;
  readonly #requests: EngineRequests;
  #deadline = Infinity;
  /** Inside the executor of a promise an interrupt becomes a rejection, which a program can catch; this stays. */
  #isExpired = false;
  #sawViolation = false;
  #usedBefore = process.cpuUsage();

  constructor(
    instance: QuickjsInstance,
    image: Image,
    { send, requests }: { readonly send: Send; readonly requests: EngineRequests },
  ) {
    this.#instance = instance;
    this.#image = image;
    this.#values = new ContextValues(instance, image.roots);
    this.#send = send;
    this.#requests = requests;
    instance.host = this;
  }

  /** A limit was exceeded, or an exception of this process passed through the engine. */
  get sawViolation(): boolean {
    return this.#sawViolation || this.#isExpired;
  }

  start(...[javascript, startText, atMs, timeoutMs, switching]: Parameters<Realm["start"]>): void {
    this.#usedBefore = process.cpuUsage();
    this.#requests.start(switching);
    if (this.#requests.isEnded) return;
    this.#within(timeoutMs, () => {
      const program = this.#values.evaluate(`${HEAD}${javascript}${PROGRAM_TAIL}`, this.#image.roots.programFile);
      this.#give(this.#image.start, [program, this.#values.write(startText), this.#values.number(atMs)]);
    });
  }

  deliver({ kind, id, text, atMs }: Frame, timeoutMs: number): void {
    const values = this.#values;
    this.#requests.exchange();
    this.#within(timeoutMs, () =>
      this.#give(this.#image.deliver, [
        values.number(kind),
        values.number(id),
        values.write(text),
        values.number(atMs),
      ]),
    );
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
    return `${user + system} ${this.#instance.bytes.length}`;
  }

  shouldStop(): boolean {
    this.#requests.interrupt();
    if (this.#requests.isEnded) return true;
    if (performance.now() < this.#deadline) return false;
    this.#isExpired = true;
    return true;
  }

  /** A program with much data is for another engine, if it may ask for one. */
  mayGrow(): boolean {
    this.#requests.ask("memory");
    return !this.#requests.isEnded;
  }

  call(id: number, args: Handle): Handle {
    const values = this.#values;
    const read = (index: number): string => values.read(values.argument(args, index));
    switch (id) {
      case SEND:
        this.#take(values.readNumber(values.argument(args, 0)), values.readNumber(values.argument(args, 1)), read(2));
        return 0;
      case PARSE_URL: {
        const parts = parseUrlParts(read(0), values.isString(values.argument(args, 1)) ? read(1) : undefined);
        return parts === undefined ? 0 : values.write(parts);
      }
      case SET_URL_PART:
        return values.write(setUrlPart(read(0), read(1), read(2)));
      case REQUEST_ENGINE:
        this.#requests.ask(read(0));
        return 0;
      default:
        throw new TypeError(`The guest has no host function ${id}`);
    }
  }

  /** Runs `act` and then every job that waits, all before the deadline. */
  #within(timeoutMs: number, act: () => void): void {
    this.#deadline = performance.now() + timeoutMs;
    try {
      act();
      this.#values.runJobs();
    } catch (thrown) {
      // An interrupt of a program that ends here is one of these.
      if (this.#requests.isEnded && (thrown instanceof GuestThrew || thrown instanceof MemoryExhausted)) return;
      if (!(thrown instanceof GuestThrew) || this.#isOutOfMemory(thrown.thrown)) this.#sawViolation = true;
      throw thrown;
    }
    if (this.#isExpired && !this.#requests.isEnded) throw new RangeError("The time is over");
  }

  /** Calls with values that are not needed afterwards. They stay when the call throws, which ends the program. */
  #give(target: Handle, args: readonly Handle[]): void {
    this.#values.free(this.#values.call(target, args));
    for (const handle of args) this.#values.free(handle);
  }

  /** Forwards one frame of the guest. Frames of an expired program come after its end and are dropped. */
  #take(kind: number, id: number, text: string): void {
    if (this.#isExpired || this.#requests.isEnded) return;
    if (kind === TO_HOST.OVERRUN) this.#sawViolation = true;
    if (kind !== TO_HOST.THREW) {
      this.#send(kind, id, text);
      this.#requests.exchange();
      return this.#requests.step();
    }
    const thrown = trustThrown(text);
    if (!this.#isOutOfMemory(thrown)) return this.#send(kind, id, JSON.stringify(withAuthorStack(thrown)));
    this.#sawViolation = true;
    this.#send(TO_HOST.OVERRUN, 0, "memory");
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
