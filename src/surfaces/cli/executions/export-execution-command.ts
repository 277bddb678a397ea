/** `glovebox executions export`: a past execution as one document, for replay elsewhere. */

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";

import { GloveboxError, parseExecutionId } from "../../../domain/index.ts";
import { EXIT } from "../powers.ts";
import { printLine } from "../print.ts";
import type { CommandContext } from "../powers.ts";

/** The deliveries of programs are private to the owner. */
const OWNER_ONLY = 0o600;

export async function exportExecutionCommand(
  { id: rawId, file }: { readonly id: string; readonly file: string | undefined },
  flags: { readonly config?: string },
  { powers, principal }: CommandContext,
): Promise<number> {
  const { terminal } = powers;
  const id = parseExecutionId(rawId);
  if (!id) {
    throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(rawId)} is not an execution id`, {
      hint: "Use the id from the result of execute: ex_ and 24 hex digits",
    });
  }
  const settings = await powers.loadSettings(flags.config);
  await using records = await powers.openRecords(settings);
  const kept = await records.findRecording(id, { actor: principal.id, action: "execution.exported" });
  const text = `${JSON.stringify(powers.toRecordingFile(kept))}\n`;
  if (file === undefined) terminal.stdout.write(text);
  else await writeNew(resolve(terminal.cwd, file), text, file);
  if (file !== undefined)
    printLine(terminal.stderr, `written to ${file}; it contains all results that the program received`);
  return EXIT.done;
}

async function writeNew(path: string, text: string, shown: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode: OWNER_ONLY });
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", `${shown} cannot be written`, {
      cause,
      hint: "Choose a new file in a folder that you may write to",
    });
  }
}
