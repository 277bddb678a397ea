/**
 * A sandbox beside the usual one, for work that no program waits for its place behind. It has its own places for each engine,
 * opens with the first program and closes when it is idle. A program stays on the engine that it ran on.
 */

import type { EngineName } from "../domain/index.ts";

import type { ConfinedEngine } from "./engine.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { SandboxOptions } from "./open-sandbox.ts";
import type { Sandbox } from "./sandbox.ts";

/** Afterwards its children end: starting one again takes about as long as one replay may. */
const IDLE_MS = 60_000;

interface SpareSandbox extends AsyncDisposable, Pick<Sandbox, "run"> {
  /** Starts a child for a program that will probably come soon. */
  prepare(): void;
}

/** `places` is how many programs run at once on each engine. */
export function openSpareSandbox(options: Omit<SandboxOptions, "concurrency">, places = 1): SpareSandbox {
  const open = new Map<EngineName, Sandbox>();
  let idle: NodeJS.Timeout | undefined;
  let running = 0;
  let isClosed = false;
  const close = async (): Promise<void> => {
    const all = [...open.values()];
    open.clear();
    await Promise.all(all.map((sandbox) => sandbox.close()));
  };
  const find = (wanted: EngineName | undefined): Sandbox => {
    const engine = withoutFaster(options.engine, wanted);
    const sandbox = open.get(engine.name) ?? openSandbox({ ...options, engine, concurrency: places });
    open.set(engine.name, sandbox);
    if (isClosed) void close();
    return sandbox;
  };
  const rest = (): void => {
    clearTimeout(idle);
    if (running === 0 && !isClosed) idle = setTimeout(() => void close(), IDLE_MS).unref();
  };
  return {
    prepare() {
      if (!isClosed) find(undefined);
      rest();
    },
    async run(job) {
      clearTimeout(idle);
      running += 1;
      try {
        return await find(job.tape?.engine).run(job);
      } finally {
        running -= 1;
        rest();
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(idle);
      await close();
    },
  };
}

/**
 * A sandbox for each level of programs that programs start: as many places as there are for programs, so a program that
 * waits for one that it started never waits for a place.
 */
export function openNestedSandboxes(options: SandboxOptions) {
  const levels = new Map<number, SpareSandbox>();
  const { concurrency, ...rest } = options;
  return {
    run(level: number, job: Parameters<SpareSandbox["run"]>[0]): ReturnType<SpareSandbox["run"]> {
      const sandbox = levels.get(level) ?? openSpareSandbox(rest, concurrency);
      levels.set(level, sandbox);
      return sandbox.run(job);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...levels.values()].map((sandbox) => sandbox[Symbol.asyncDispose]()));
    },
  };
}

/** The engine of this name, by default the one that programs start on. */
function withoutFaster({ faster, ...engine }: ConfinedEngine, wanted: EngineName | undefined): ConfinedEngine {
  const { name, startsOn = name } = engine;
  return faster && wanted !== undefined && wanted !== startsOn ? faster : { ...engine, name: startsOn };
}
