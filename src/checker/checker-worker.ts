/** One process of the checker with the declarations that it has. Bounded in memory; a check is bounded by its caller. */

import type { ApiSurface } from "../domain/index.ts";
import { startCheckerProcess } from "./start-process.ts";
import type { CheckerProcess, CheckerProcessOptions } from "./start-process.ts";
import type { CheckerReply, CheckerRequest } from "./wire.ts";

export interface WorkerOptions extends CheckerProcessOptions {
  /** Resident bytes of a process and its children; `undefined` where the platform does not tell. */
  readonly measure: (pid: number) => number | undefined;
  readonly memoryBytes: number;
  /** From the start of a process, or from new declarations, until it can check. */
  readonly prepareMs: number;
}

/** `gone` means that the process ended before it replied. */
export type WorkerReply = CheckerReply | { readonly kind: "gone" };

const WATCH_MS = 50;

export class CheckerWorker {
  readonly #options: WorkerOptions;
  readonly #process: CheckerProcess;
  readonly #known = new Set<string>();
  #prepared: Promise<boolean> = Promise.resolve(true);
  #ids = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#process = startCheckerProcess(options);
  }

  /** 0 once the process has ended. */
  get pid(): number {
    return this.#process.isGone ? 0 : this.#process.pid;
  }

  get isTooLarge(): boolean {
    return (this.#options.measure(this.#process.pid) ?? 0) > this.#options.memoryBytes;
  }

  /** Sends declarations that the process does not have. Returns `false` if the process does not accept them in time. */
  prepare(surface: ApiSurface): Promise<boolean> {
    this.#prepared = this.#prepared.then(() => this.#prepare(surface));
    return this.#prepared;
  }

  /** After `prepare`, one at a time. `unknownApi` means that the process has dropped the declarations: prepare again. */
  async check(surface: ApiSurface, text: string): Promise<WorkerReply> {
    const api = nameApi(surface);
    const reply = await this.#ask({ api, text });
    if (reply.kind === "unknownApi") this.#known.delete(api);
    return reply;
  }

  /** Resolves when the process and its children are gone. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  async #prepare(surface: ApiSurface): Promise<boolean> {
    const api = nameApi(surface);
    if (this.#known.has(api)) return true;
    const late = Promise.withResolvers<WorkerReply>();
    const timer = setTimeout(() => late.resolve({ kind: "gone" }), this.#options.prepareMs);
    // With an empty program, so that parsing the declarations does not count against a program's time.
    const reply = this.#ask({ api, declarations: surface.declarations, text: "" });
    const { kind } = await Promise.race([reply, late.promise]);
    clearTimeout(timer);
    if (kind === "checked") this.#known.add(api);
    return kind === "checked";
  }

  /** Kills a process that uses too much memory before it replies. */
  async #ask(request: Omit<CheckerRequest, "id">): Promise<WorkerReply> {
    this.#ids += 1;
    const watcher = setInterval(() => void (this.isTooLarge && this.kill()), WATCH_MS);
    try {
      return await this.#process.ask({ id: this.#ids, ...request }).catch(() => ({ kind: "gone" }) as const);
    } finally {
      clearInterval(watcher);
    }
  }
}

/** Equal names mean equal declarations. */
export function nameApi({ snapshot, part = "", secrets = [] }: ApiSurface): string {
  return [snapshot, part, secrets.map((name) => `secrets.${name}`).join(" ")].filter((text) => text !== "").join(" ");
}
