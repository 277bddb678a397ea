/**
 * The main loop of a child: runs programs one after the other, each in a fresh realm that was prepared in advance.
 * It blocks on its one descriptor instead of an event loop, because everything a program waits for comes from the host.
 * It has no authority: no network, no files, no secrets, no environment.
 */

import { readSync, writeSync } from "node:fs";

import { WIRE_DESCRIPTOR } from "../engine.ts";
import { createFrameReader, encodeFrame, readBlocking } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";
import type { StartMessage, ThrownMessage } from "../wire.ts";
import type { CreateRealm, EngineAnswer, Realm } from "./realm.ts";
import { STUCK, trustStart } from "./realm.ts";

/** Replies may be as large as the largest configurable result; the host is trusted to keep to it. */
const MAX_FRAME_BYTES = 80 * 1024 * 1024;

const REST = new Int32Array(new SharedArrayBuffer(4));

export interface ChildSettings {
  /** Realms are prepared for this limit. */
  readonly usualMemoryBytes: number;
  /**
   * A realm is prepared so long after the end of the last program: preparing one that takes longer than the host needs
   * to deliver the last result would delay that result.
   */
  readonly restMs: number;
  /** The path of the seal; `undefined` without the second stage of confinement. */
  readonly seal: string | undefined;
}

/** Runs until the host is gone. */
export function serveChild(createRealm: CreateRealm, settings: ChildSettings): Promise<never> {
  // An error from this process may reach a program, which must not see paths of this machine.
  Error.stackTraceLimit = 0;
  return new ChildServer(createRealm, settings).serve();
}

/** Loading it is all there is to do: the constructor filters system calls, or ends the process. See `native/seal.c`. */
function sealProcess(file: string): void {
  try {
    process.dlopen({ exports: {} }, file);
  } catch (thrown) {
    if (!String(thrown).includes("did not self-register")) throw thrown;
  }
}

class ChildServer {
  readonly #createRealm: CreateRealm;
  readonly #settings: ChildSettings;
  readonly #reader = createFrameReader(MAX_FRAME_BYTES);
  #realm: Realm | undefined;
  #outgoing: Buffer[] = [];
  #isFinished = false;
  /** Calls and timers that the host has not answered yet. */
  #waiting = 0;
  /** When the program's time is over, by the clock of this process. */
  #deadline = 0;
  /** Frames that came while the host decided about another engine. */
  #held: Frame[] = [];

  constructor(createRealm: CreateRealm, settings: ChildSettings) {
    this.#createRealm = createRealm;
    this.#settings = settings;
  }

  /** Only awaits the creation of realms. */
  async serve(): Promise<never> {
    const { usualMemoryBytes, restMs, seal } = this.#settings;
    let realm = await this.#prepare(usualMemoryBytes);
    if (seal !== undefined) sealProcess(seal); // the first realm has loaded everything that later ones need
    for (;;) {
      this.#isFinished = false;
      this.#send(TO_HOST.READY, 0, "");
      this.#held = [];
      let frame = this.#receive();
      while (frame.kind !== TO_GUEST.START) frame = this.#receive(); // a late answer to the previous execution
      const start = trustStart(frame.text);
      this.#realm = await this.#fitMemory(realm, start.limits.memoryBytes);
      this.#run(this.#realm, frame, start);
      this.#flush();
      Atomics.wait(REST, 0, 0, restMs);
      this.#realm.dispose();
      realm = await this.#prepare(usualMemoryBytes);
    }
  }

  #prepare(memoryBytes: number): Realm | Promise<Realm> {
    return this.#createRealm(
      memoryBytes,
      (kind, id, text) => this.#send(kind, id, text),
      (reason) => this.#requestEngine(reason),
    );
  }

  /** Waits for END or CONTINUE. Everything else is for the program, if it continues here. One that has ended has no answer. */
  #requestEngine(reason: string): EngineAnswer {
    if (this.#isFinished) return { kind: "continue", againMs: Infinity };
    this.#send(TO_HOST.SWITCH, 0, reason);
    for (;;) {
      this.#flush();
      const frame = this.#read();
      if (frame.kind === TO_GUEST.END) {
        this.#isFinished = true;
        return { kind: "end" };
      }
      if (frame.kind === TO_GUEST.CONTINUE) return { kind: "continue", againMs: Number(frame.text || Infinity) };
      this.#held.push(frame);
    }
  }

  /** Returns when the program has ended in any way; the last frame says how. */
  #run(realm: Realm, { text, atMs }: Frame, { javascript, limits, switching }: StartMessage): void {
    this.#waiting = 0;
    this.#deadline = performance.now() + limits.wallMs;
    const timeout = (): number => Math.max(1, Math.ceil(this.#deadline - performance.now()));
    try {
      realm.start(javascript, text, atMs, timeout(), switching);
      while (!this.#isFinished) {
        // All input comes from the host, so a program without an open request can never continue.
        if (this.#waiting === 0) return this.#sendThrown(STUCK);
        const frame = this.#receive();
        if (frame.kind === TO_GUEST.END) return void (this.#isFinished = true);
        realm.deliver(frame, timeout());
      }
    } catch (thrown) {
      const failure = realm.explain(thrown);
      if (failure.kind === "overrun") this.#send(TO_HOST.OVERRUN, 0, failure.overrun);
      else this.#sendThrown(failure.thrown);
    }
  }

  /** The realm at hand was made for the usual memory limit; an execution with another one needs another. */
  #fitMemory(realm: Realm, memoryBytes: number): Realm | Promise<Realm> {
    if (realm.memoryBytes === memoryBytes) return realm;
    realm.dispose();
    return this.#prepare(memoryBytes);
  }

  #sendThrown(thrown: ThrownMessage): void {
    this.#send(TO_HOST.THREW, 0, JSON.stringify(thrown));
  }

  /**
   * Collects the calls of one turn, so that a hundred parallel calls cost one write. Log lines and the ending are sent at
   * once: a program that keeps computing after its return has still returned.
   */
  #send(kind: number, id: number, text: string): void {
    if (this.#isFinished) return;
    this.#isFinished = kind === TO_HOST.DONE || kind === TO_HOST.THREW || kind === TO_HOST.OVERRUN;
    if (this.#isFinished) this.#outgoing.push(encodeFrame(TO_HOST.USAGE, 0, 0, this.#realm?.usage() ?? "0 0"));
    this.#outgoing.push(encodeFrame(kind, id, 0, text));
    if (kind === TO_HOST.CALL || kind === TO_HOST.TIMER) this.#waiting += 1;
    if (this.#isFinished || kind === TO_HOST.LOG) this.#flush();
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return;
    let bytes = Buffer.concat(this.#outgoing);
    this.#outgoing = [];
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(WIRE_DESCRIPTOR, bytes));
  }

  /**
   * Sends everything and returns the next frame; exits if the host is gone. Answers PING here: a child that waits for
   * frames has done all its work.
   */
  #receive(): Frame {
    for (;;) {
      this.#flush();
      const frame = this.#held.shift() ?? this.#read();
      if (frame.kind === TO_GUEST.PING) {
        this.#send(TO_HOST.PONG, 0, "");
        continue;
      }
      if (frame.kind === TO_GUEST.LEFT) {
        this.#deadline = performance.now() + Number(frame.text);
        continue;
      }
      this.#waiting -= 1;
      return frame;
    }
  }

  #read(): Frame {
    return readBlocking(this.#reader, (into) => readSync(WIRE_DESCRIPTOR, into)) ?? process.exit(0);
  }
}
