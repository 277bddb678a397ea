/** `glovebox executions resume`: goes on with an execution that was put away, where no gateway runs that would. */

import { GloveboxError, parseExecutionId } from "../../../domain/index.ts";
import type { ExecutionDetails } from "../../../execution/index.ts";
import type { ExecutionsFlags } from "./executions-command.ts";
import type { CommandContext } from "../powers.ts";
import { EXIT } from "../powers.ts";
import { printJson, printResult } from "../print.ts";
import { exitOf } from "../run-command.ts";

/** Prints as `run` does, and ends as `run` does: exit 3 when it still waits for a person. */
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
    hint: "Look at it with `glovebox executions show`",
  });
}
