/** `glovebox servers update`: shows what another version of a server's package changes, asks, and accepts it. */

import type { PackageUpdate } from "../../../connectors/index.ts";
import { GloveboxError, serverCommand } from "../../../domain/index.ts";
import type { Invocation } from "../add-command.ts";
import { EXIT } from "../powers.ts";
import type { ToolChanges } from "../../operator-records.ts";
import { askYesNo, countOf, printLine } from "../print.ts";
import { toServer } from "./to-server.ts";

const MOST_PACKAGES = 20;

/** Exit 1 if the person declines. */
export async function updateServer(invocation: Invocation<{ readonly yes?: boolean }>, name: string): Promise<number> {
  const { flags, powers, principal, terminal, print } = invocation;
  const settings = await invocation.loadSettings();
  const server = toServer(name, settings.upstreams);
  await using records = await powers.openRecords(settings);
  const confirm = (update: PackageUpdate<ToolChanges[number]>): Promise<boolean> | boolean => {
    if (!flags.json) for (const line of formatUpdate(update)) printLine(terminal.stdout, line);
    if (flags.yes === true || update.isAccepted) return true;
    if (terminal.stdin.isTTY === true) {
      return askYesNo(`Accept ${update.package}@${update.version}? [y/N] `, terminal.stdin, terminal.stderr);
    }
    throw new GloveboxError("REQUEST_INVALID", `${update.package}@${update.version} shown, nothing accepted`, {
      hint: "Without a terminal, read what changes and pass --yes",
    });
  };
  const accepted = await records.updatePackage(server, principal.id, confirm);
  if (!accepted) {
    printLine(terminal.stderr, "Nothing was accepted");
    return EXIT.failed;
  }
  const held = accepted.tools.filter(({ why }) => why !== "removed").length;
  const rest = held === 0 ? "" : `; accept its changed tools with ${serverCommand("approve", server)} --all`;
  print({ accepted }, [`${server}: ${accepted.package}@${accepted.version} accepted${rest}`]);
  return EXIT.done;
}

function formatUpdate({
  server,
  previous,
  packages,
  tools,
  problem,
  isAccepted,
  ...update
}: PackageUpdate<ToolChanges[number]>): string[] {
  const { package: name, version, integrity } = update;
  if (isAccepted) return [`${server}: ${name}@${version} is accepted, and nothing changed`];
  const own = packages.filter((one) => one.name !== name);
  const more = own.length - MOST_PACKAGES;
  return [
    `${server}: ${name} ${previous ? `${previous.version} → ${version}` : version}`,
    `  integrity: ${previous ? `${previous.integrity} → ${integrity}` : integrity}`,
    ...own
      .slice(0, MOST_PACKAGES)
      .map((one) => `  package: ${one.name} ${one.before ?? "(none)"} → ${one.after ?? "(none)"}`),
    ...(more > 0 ? [`  and ${countOf(more, "more package")}`] : []),
    ...(problem === undefined ? [] : [`  its tools could not be listed: ${problem}`]),
    ...tools.flatMap((tool) => {
      const [first = "", ...rest] = formatToolChange(tool);
      return [`  tool: ${first}`, ...rest.map((line) => `  ${line}`)];
    }),
    ...(problem === undefined && tools.length === 0 ? ["  no tool changes"] : []),
  ];
}

/** One line with the name of the tool, and an indented one for each difference. */
export function formatToolChange({ tool, why, difference, suspicious = [] }: FormattedChange): readonly string[] {
  return [
    `${tool}, ${why}`,
    ...difference.map((line) => `  ${line}`),
    ...suspicious.map((mark) => `  ! suspicious: ${mark}`),
  ];
}

type FormattedChange = Omit<ToolChanges[number], "why"> & { readonly why: string };
