/** `glovebox trust`: consent to a configuration that was found in a project. */

import type { Command } from "commander";

import type { Commands, Invocation } from "./add-command.ts";
import { showConfig } from "./confirm-config.ts";

export function addTrust(program: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(
    program,
    "trust [path]",
    "show a configuration and trust it until it changes; by default the one that is found",
    trustCommand,
  );
}

/** Does not ask, so that scripts can use it. */
async function trustCommand({ flags, powers, terminal, print }: Invocation, path: string | undefined): Promise<void> {
  const { realPath, digest } = await powers.giveConsent(path ?? flags.config, (config) =>
    showConfig(config, terminal.stderr),
  );
  print({ path: realPath, digest }, [`${realPath} is trusted until it changes`]);
}
