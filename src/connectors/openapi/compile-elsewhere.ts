/** Compiles a document in a child process, so that a large or hostile one does not block the gateway's thread. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { GloveboxError, defined, isErrorCode, isJsonObject } from "../../domain/index.ts";
import type { ChildKeeper } from "../../domain/index.ts";

import type { CompileRequest, CompiledApi, CompiledHead, CompiledTool } from "./compile-api.ts";
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

/** What the process sends: each tool, then the head; or `failed`. */
export type CompileMessage =
  | { readonly kind: "tool"; readonly tool: CompiledTool }
  | { readonly kind: "head"; readonly head: CompiledHead }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint: string | undefined };

/** Rejects as `compileApi` throws. The process has no environment and gets no secret. `signal` kills it. */
export async function compileElsewhere(
  job: CompileJob,
  { keeper, signal }: { readonly keeper: ChildKeeper; readonly signal: AbortSignal },
): Promise<CompiledApi> {
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
  const ended = once(
    child.on("error", () => undefined),
    "exit",
  ).catch(() => undefined);
  const compiled = Promise.withResolvers<CompiledApi>();
  const tools: CompiledTool[] = [];
  child.on("message", (raw) => {
    const message = parseMessage(raw);
    if (message.kind === "tool") tools.push(message.tool);
    else if (message.kind === "head") compiled.resolve({ head: message.head, tools });
    else compiled.reject(toError(message));
  });
  void ended.then(() =>
    compiled.reject(invalidDocument("the process that reads it ended early; it may need too much memory")),
  );
  try {
    child.send(job, () => undefined); // a process that cannot receive the message has ended, and its exit is handled
    return await compiled.promise;
  } finally {
    kill();
    await ended;
    signal.removeEventListener("abort", kill);
    if (pid !== undefined) keeper.release(pid);
  }
}

/** Checks what the rest of the process relies on. Schemas and operations were written by the same code in the child. */
function parseMessage(raw: unknown): CompileMessage {
  const { kind, head, tool, code, message, hint } = toRecord(raw);
  const { base, schemes } = toRecord(head);
  const isValid =
    (kind === "head" && typeof base === "string" && schemes instanceof Map) ||
    (kind === "tool" && isJsonObject(toRecord(tool)["tool"]) && isJsonObject(toRecord(tool)["operation"])) ||
    (kind === "failed" && [code, message, hint ?? ""].every((text) => typeof text === "string"));
  if (isValid) return raw as CompileMessage;
  const text = "The process that compiles documents sent an unexpected message";
  return { kind: "failed", code: "INTERNAL_BUG", message: text, hint: undefined };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function toError({ code, message, hint }: Extract<CompileMessage, { kind: "failed" }>): GloveboxError {
  return new GloveboxError(isErrorCode(code) ? code : "INTERNAL_BUG", message, defined({ hint }));
}
