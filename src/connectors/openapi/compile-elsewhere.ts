/** Compiles a document in a child process, so that a large or hostile one does not block the gateway's thread. */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

import { GloveboxError, isErrorCode } from "../../domain/index.ts";
import type { ChildKeeper } from "../../domain/index.ts";

import type { CompileRequest, CompiledHead, CompiledTool } from "./compile-api.ts";
import { invalidDocument } from "./document/parse-text.ts";

/** When run from source, the child of the last build: the process runs plain JavaScript. */
const CHILD = fileURLToPath(
  import.meta.url.endsWith(".ts")
    ? new URL("../../../dist/connectors/openapi/compile-child.js", import.meta.url)
    : new URL("./compile-child.js", import.meta.url),
);

/** Enough memory for the largest allowed document; no signal opens the inspector. */
const FLAGS = ["--no-warnings", "--max-old-space-size=2048", "--disable-sigusr1"];

/** What the process receives: one document, once. */
export interface CompileJob {
  readonly text: string;
  readonly request: CompileRequest;
}

/** What the process sends: the head, then each tool, then `done`; or `failed`. */
export type CompileMessage =
  | { readonly kind: "head"; readonly head: CompiledHead }
  | { readonly kind: "tool"; readonly tool: CompiledTool }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint: string | undefined };

export interface CompileOptions {
  readonly keeper: ChildKeeper;
  /** Kills the process. */
  readonly signal: AbortSignal;
}

/** Rejects as `compileApi` throws. The process has no environment and gets no secret. */
export async function compileElsewhere(
  job: CompileJob,
  { keeper, signal }: CompileOptions,
): Promise<{ readonly head: CompiledHead; readonly tools: readonly CompiledTool[] }> {
  signal.throwIfAborted();
  const child = fork(CHILD, [], {
    execArgv: FLAGS,
    env: {},
    cwd: "/",
    detached: true,
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const { pid } = child;
  const kill = (): void => void child.kill("SIGKILL");
  if (pid !== undefined) keeper.keep(pid);
  signal.addEventListener("abort", kill, { once: true });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  try {
    child.send(job, () => undefined); // a process that cannot receive the message has ended, and its exit is handled
    return await collect(child, ended);
  } finally {
    kill();
    await ended;
    signal.removeEventListener("abort", kill);
    if (pid !== undefined) keeper.release(pid);
  }
}

type Sender = Pick<ReturnType<typeof fork>, "on">;

function collect(
  child: Sender,
  ended: Promise<void>,
): Promise<{ readonly head: CompiledHead; readonly tools: readonly CompiledTool[] }> {
  const tools: CompiledTool[] = [];
  let head: CompiledHead | undefined;
  return new Promise((resolve, reject) => {
    const receive = (message: CompileMessage): void => {
      if (message.kind === "head") head = message.head;
      else if (message.kind === "tool") tools.push(message.tool);
      else if (message.kind === "failed") reject(toError(message));
      else if (head) resolve({ head, tools });
    };
    child.on("message", (raw) => {
      try {
        receive(parseMessage(raw));
      } catch (thrown) {
        reject(thrown);
      }
    });
    void ended.then(() =>
      reject(invalidDocument("the process that reads it ended early; it may need too much memory")),
    );
  });
}

/** Checks what the rest of the process relies on. Schemas and operations were written by the same code in the child. */
function parseMessage(raw: unknown): CompileMessage {
  if (!isRecord(raw)) throw unexpected();
  const { kind, head, tool, code, message, hint } = raw;
  const isValid =
    (kind === "head" && isRecord(head) && typeof head["base"] === "string" && head["schemes"] instanceof Map) ||
    (kind === "tool" && isRecord(tool) && isRecord(tool["tool"]) && isRecord(tool["operation"])) ||
    kind === "done" ||
    (kind === "failed" && [code, message, hint ?? ""].every((text) => typeof text === "string"));
  if (!isValid) throw unexpected();
  return raw as unknown as CompileMessage;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function unexpected(): GloveboxError {
  return new GloveboxError("INTERNAL_BUG", "The process that compiles documents sent an unexpected message");
}

function toError({ code, message, hint }: Extract<CompileMessage, { kind: "failed" }>): GloveboxError {
  if (!isErrorCode(code)) return new GloveboxError("INTERNAL_BUG", message);
  return new GloveboxError(code, message, hint === undefined ? {} : { hint });
}
