/** `glovebox eject`: undoes `init`. */

import { resolve } from "node:path";

import type { Command } from "commander";

import { GloveboxError } from "../../../domain/index.ts";
import { applyUndo, openUndoLog, planUndo } from "../../../onboarding/index.ts";
import type { UndoneFile } from "../../../onboarding/index.ts";
import type { Commands, Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import { askYesNo, formatFault, printLine } from "../print.ts";
import { toPlaces } from "./init-command.ts";
import type { HomeFlags } from "./init-command.ts";
import { openSealedRecords } from "./sealed-records.ts";

const OUTCOMES: Readonly<Record<UndoneFile["outcome"], string>> = {
  restored: "as it was before",
  removed: "removed, because it did not exist before",
  edited: "changed since: our entry is removed, the imported servers are back, the rest stays",
  kept: "changed since: it stays",
  failed: "not changed",
};

export function addEject(program: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(program, "eject", "undo init: restore the files of your MCP clients", ejectCommand)
    .option("--yes", "do not ask; needed without a terminal")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--home <folder>", "another home folder");
}

/** Exit 1 if a file cannot be restored; it can be tried again. */
async function ejectCommand(invocation: Invocation<HomeFlags>): Promise<number> {
  const { flags, powers, terminal, print } = invocation;
  const files = powers.openHome(flags.home === undefined ? undefined : resolve(terminal.cwd, flags.home));
  const { stateFolder } = files.user;
  const record = openUndoLog(stateFolder).read();
  if (!record) {
    print({ files: [], secrets: [] }, ["There is nothing to undo: init has changed nothing in this home folder"]);
    return EXIT.done;
  }
  const { config, store, secrets } = record;
  // A configuration that was broken since does not keep anyone here.
  const settings = await files
    .readPlanned(config)
    .catch(() => powers.parseObject({ store: { url: `sqlite:${store}` } }));
  await using sealed = await openSealedRecords(invocation, settings);
  const planned = planUndo(record, { stateFolder, seal: sealed.seal, places: toPlaces(files, invocation) });
  if (!flags.json) for (const one of planned) printFile({ ...one, path: one.file.path }, invocation);
  if (flags.dryRun === true) {
    if (flags.json) print({ files: planned.map(({ file, outcome }) => ({ path: file.path, outcome })), secrets }, []);
    return EXIT.done;
  }
  if (!(await confirm(invocation))) return EXIT.failed;
  const undone = applyUndo(stateFolder, planned);
  const isRemoved = undone.some(({ path, outcome }) => path === config && outcome !== "kept" && outcome !== "failed");
  if (isRemoved) for (const name of secrets) await sealed.removeSecret(name).catch(powers.warn);
  const shown = undone.map(({ error, ...file }) => ({ ...file, ...(error && { error: error.message }) }));
  print({ files: shown, secrets: isRemoved ? secrets : [] }, ["Done. Restart your clients."]);
  return undone.some(({ outcome }) => outcome === "failed") ? EXIT.failed : EXIT.done;
}

function printFile(
  { path, outcome, error }: Pick<UndoneFile, "path" | "outcome" | "error">,
  { terminal }: Invocation<HomeFlags>,
): void {
  printLine(terminal.stdout, `${path}: ${OUTCOMES[outcome]}`);
  if (error) printLine(terminal.stderr, formatFault(error));
}

async function confirm({ flags, terminal: { stdin, stderr } }: Invocation<HomeFlags>): Promise<boolean> {
  if (flags.yes === true) return true;
  if (stdin.isTTY === true && flags.json !== true) return askYesNo("Undo this? [y/N] ", stdin, stderr);
  throw new GloveboxError("REQUEST_INVALID", "Nothing was changed", {
    hint: "Without a terminal, look at the changes with --dry-run, then pass --yes",
  });
}
