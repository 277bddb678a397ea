/** A V8 isolate with the guest's world in it, made from a snapshot that already holds the guest's code. */

import type IsolatedVm from "isolated-vm";

import { GUEST_SOURCE, GUEST_WARM_UP } from "../../guest.generated.ts";
import { ERROR_CHARS, PROGRAM_FILE, PROGRAM_HEAD, PROGRAM_TAIL } from "../../wire.ts";
import type { ProgramFailure, Realm, Send } from "../realm.ts";
import { parseUrlParts, setUrlPart } from "../url-parts.ts";

const MEGABYTE = 1024 * 1024;
/** The engine refuses less. */
const SMALLEST_MB = 8;
const BOUNDARY = "\n    at (<isolated-vm boundary>)";

/** Loaded by its path, without a search: a confined child may not read folders of packages. */
const native: { exports: { readonly ivm?: typeof IsolatedVm } } = { exports: {} };
process.dlopen(native, process.argv[2] ?? "");
const ivm = native.exports.ivm ?? process.exit(1);

type Boot = (...host: readonly unknown[]) => Readonly<Record<string, unknown>>;
type Start = (program: unknown, startText: string, atMs: number) => void;
type Deliver = (kind: number, id: number, text: string, atMs: number) => void;

let snapshot: IsolatedVm.ExternalCopy<ArrayBuffer> | undefined;

export function createIsolateRealm(memoryBytes: number, send: Send): Realm {
  snapshot ??= ivm.Isolate.createSnapshot([{ code: GUEST_SOURCE }], GUEST_WARM_UP);
  const memoryLimit = Math.max(SMALLEST_MB, Math.ceil(memoryBytes / MEGABYTE));
  const isolate = new ivm.Isolate({ memoryLimit, snapshot });
  const context = isolate.createContextSync();
  const { start, deliver } = bootGuest(context, send);
  let usedBefore = process.cpuUsage();
  return {
    memoryBytes,
    start(javascript, startText, atMs, timeout) {
      usedBefore = process.cpuUsage();
      const text = `${PROGRAM_HEAD}${javascript}${PROGRAM_TAIL}`;
      const script = isolate.compileScriptSync(text, { filename: PROGRAM_FILE, lineOffset: -1 });
      const program = script.runSync(context, { reference: true, timeout });
      start.applySync(undefined, [program.derefInto(), startText, atMs], { timeout });
    },
    // `applySync` with a timeout also bounds the microtasks that follow.
    deliver({ kind, id, text, atMs }, timeout) {
      deliver.applySync(undefined, [kind, id, text, atMs], { timeout });
    },
    explain: (thrown) => explain(thrown, isolate),
    usage: () => `${countMicroseconds(usedBefore)} ${measureHeap(isolate)}`,
    dispose: () => isolate.isDisposed || isolate.dispose(),
  };
}

function bootGuest(
  context: IsolatedVm.Context,
  send: Send,
): { readonly start: IsolatedVm.Reference<Start>; readonly deliver: IsolatedVm.Reference<Deliver> } {
  const boot = trustFunction<Boot>(context.global.getSync("__boot", { reference: true }));
  const host = [new ivm.Callback(send), new ivm.Callback(parseUrlParts), new ivm.Callback(setUrlPart)];
  const guest = boot.applySync(undefined, host, { result: { reference: true } });
  return {
    start: trustFunction<Start>(guest.getSync("start", { reference: true })),
    deliver: trustFunction<Deliver>(guest.getSync("deliver", { reference: true })),
  };
}

/** The guest's code is ours, and the program has not run yet. */
function trustFunction<T>(reference: unknown): IsolatedVm.Reference<T> {
  return reference as IsolatedVm.Reference<T>;
}

/** Of this process: the isolate's own figure is the time that passed, so it grows while others have the processor. */
function countMicroseconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function measureHeap(isolate: IsolatedVm.Isolate): number {
  if (isolate.isDisposed) return 0;
  const heap = isolate.getHeapStatisticsSync();
  return heap.used_heap_size + heap.externally_allocated_size;
}

/** The engine disposes of an isolate that ran out of memory, and names a timeout in words. */
function explain(thrown: unknown, isolate: IsolatedVm.Isolate): ProgramFailure {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (isolate.isDisposed) return { kind: "overrun", overrun: "memory" };
  if (text === "Script execution timed out.") return { kind: "overrun", overrun: "wall" };
  return {
    kind: "thrown",
    thrown: {
      kind: thrown instanceof SyntaxError ? "syntax" : "thrown",
      name: thrown instanceof Error ? thrown.name : "",
      message: text.slice(0, ERROR_CHARS),
      stack: thrown instanceof Error ? cutStack(thrown.stack ?? "") : "",
    },
  };
}

/** Without the frames of this process, which the engine writes below its boundary: they name files of the machine. */
function cutStack(stack: string): string {
  const end = stack.indexOf(BOUNDARY);
  return stack.slice(0, Math.min(end < 0 ? stack.length : end, ERROR_CHARS));
}
