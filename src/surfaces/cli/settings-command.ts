/** `glovebox settings`: the settings in force, with where each is from. */

import type { Command } from "commander";

import { describeSettings } from "../describe-settings.ts";
import type { Commands, Invocation } from "./add-command.ts";

export function addSettings(program: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(
    program,
    "settings",
    "list the settings in force, without credentials",
    async (invocation: Invocation) => {
      const described = describeSettings(await invocation.readSettings());
      invocation.print(
        { settings: described },
        described.map(
          ({ key, value, source }) => `${key} = ${value}${source === "default" ? "" : "  (configuration)"}`,
        ),
      );
    },
  );
}
