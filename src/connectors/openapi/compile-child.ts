/** The process that compiles one document and exits. It reads no file, opens no connection and has no secret. */

import { GloveboxError } from "../../domain/index.ts";

import { compileApi } from "./compile-api.ts";
import type { CompileJob, CompileMessage } from "./compile-elsewhere.ts";

/** Limit for one tool, as JSON text; the catalog accepts no larger one. */
const MAX_TOOL_CHARACTERS = 1024 * 1024;
/** Limit for all tools, above any real document. */
const MAX_TOTAL_CHARACTERS = 64 * 1024 * 1024;

function send(message: CompileMessage): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}

async function compile({ text, request }: CompileJob): Promise<void> {
  const { head, tools } = compileApi(text, request);
  let total = 0;
  for (const tool of tools) {
    const size = JSON.stringify(tool.tool).length;
    if (size > MAX_TOOL_CHARACTERS || total + size > MAX_TOTAL_CHARACTERS) continue;
    total += size;
    await send({ kind: "tool", tool });
  }
  await send({ kind: "head", head });
}

function toFailed(thrown: unknown): CompileMessage {
  const error = thrown instanceof GloveboxError ? thrown : new GloveboxError("INTERNAL_BUG", String(thrown));
  return { kind: "failed", code: error.code, message: error.message, hint: error.details.hint };
}

/** The gateway that started this process wrote it. */
function trustJob(raw: unknown): CompileJob {
  return raw as CompileJob;
}

process.on("disconnect", () => process.exit());
process.once("message", (raw) => void compile(trustJob(raw)).catch((thrown: unknown) => send(toFailed(thrown))));
