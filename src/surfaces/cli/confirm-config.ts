/** Shows a configuration that was found in a project, and asks for consent to it at a terminal. */

import type { Writable } from "node:stream";

import { describeConfig } from "../../config/index.ts";
import type { ConfigText } from "../../config/index.ts";
import { toVisible } from "../../text/index.ts";
import type { Terminal } from "./powers.ts";
import { askYesNo } from "./print.ts";

/** Returns a function that asks, or `undefined` without a terminal. */
export function createConfirm({ stdin, stderr }: Terminal): ((config: ConfigText) => Promise<boolean>) | undefined {
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
  return async (config) => {
    showConfig(config, stderr);
    return askYesNo("Do you trust this configuration, until it changes? [y/N] ", stdin, stderr);
  };
}

/** Cuts nothing, because what is not shown cannot be judged. */
export function showConfig(config: ConfigText, stderr: Writable): void {
  const settings = describeConfig(config);
  const has = settings.length > 0 ? "and has:" : "and is empty: it changes no setting.";
  for (const line of [`${config.path} was found in a project ${has}`, ...settings])
    stderr.write(`${toVisible(line)}\n`);
}
