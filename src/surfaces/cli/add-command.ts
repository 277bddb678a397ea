/** What the words of every command have in common. */

import { InvalidArgumentError } from "commander";
import type { Command } from "commander";

/** Every command takes a configuration. */
export function addCommand(parent: Command, words: string, description: string): Command {
  return parent
    .command(words)
    .description(description)
    .option("--config <path>", "the configuration file to use instead of the one that is found")
    .copyInheritedSettings(parent);
}

/** For options that take a whole number from 1 up. */
export function parseCount(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError("It must be a whole number from 1 up.");
}
