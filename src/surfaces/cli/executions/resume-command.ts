/** `glovebox executions resume`: resumes a suspended execution if no gateway runs. */

import { GloveboxError, parseExecutionId } from "../../../domain/index.ts";
import type { ExecutionDetails } from "../../../execution/index.ts";
import type { ExecutionsFlags } from "./executions-command.ts";
import type { CommandContext } from "../powers.ts";
import { EXIT } from "../powers.ts";
import { printJson, printResult } from "../print.ts";
import { exitOf } from "../run-command.ts";

/** Output and exit codes are those of `run`: exit 3 if it still waits for approval. */
export async function resumeExecutionCommand(
  rawId: string,
  flags: ExecutionsFlags,
  { powers }: CommandContext,
): Promise<number> {
  const { terminal } = powers;
  const settings = await powers.loadSettings(flags.config);
  const show = async (): Promise<ExecutionDetails> => {
    await using records = await powers.readRecords(settings);
    const { history } = records;
    return await history.show(rawId);
  };
  const { id, state } = await show();
  if (state === "paused") {
    await using gateway = await powers.openGateway(settings);
    const forget = terminal.onInterrupt(() => void gateway.close());
    await gateway.resumeNow(id).finally(forget);
  }
  const { result } = await show();
  if (result.state === "running") throw elsewhere(rawId);
  if (flags.json) printJson(terminal.stdout, result);
  else printResult({ ...result, state: result.state }, terminal.stdout, terminal.stderr);
  return result.state === "cancelled" ? EXIT.interrupted : exitOf({ ...result, state: result.state });
}

function elsewhere(id: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `${parseExecutionId(id) ?? "It"} runs in another process`, {
    hint: "Run `glovebox executions show`",
  });
}
