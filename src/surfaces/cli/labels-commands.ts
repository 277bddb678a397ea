/** `glovebox labels`: shows the labels that new sessions of a principal inherit, and clears them. */

import type { Command } from "commander";

import { GloveboxError, parsePrincipalId } from "../../domain/index.ts";
import type { LabelSource } from "../../domain/index.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { printLine } from "./print.ts";

/** The principal of MCP clients. */
const CLIENTS = "local";

export function addLabels(program: Command, { addJsonCommand }: Commands): void {
  const labels = addJsonCommand(program, "labels", "list the labels that principals hold beyond a session", listLabels);
  addJsonCommand(
    labels,
    "clear [principal]",
    `remove the labels of a principal (default ${CLIENTS}, the principal of MCP clients) and of its sessions`,
    clearLabels,
  );
}

async function listLabels({ flags, terminal, openRecords, print }: Invocation): Promise<void> {
  await using records = await openRecords();
  const held = await records.labels.list();
  print(
    { labels: held },
    held.flatMap(({ principal, labels, readAt, inheritedUntil }) => [
      `${principal}: last labeled read ${formatTime(readAt)}, ${describeUntil(inheritedUntil)}`,
      ...labels.map((source) => `  ${formatSource(source)}`),
    ]),
  );
  if (!flags.json && held.length === 0) printLine(terminal.stderr, "No principal holds labels");
}

async function clearLabels({ principal: by, openRecords, print }: Invocation, rawPrincipal = CLIENTS): Promise<void> {
  const principal = parsePrincipalId(rawPrincipal);
  if (!principal) {
    throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(rawPrincipal)} is not the name of a principal`, {
      hint: "`glovebox labels` lists the principals that hold labels",
    });
  }
  await using records = await openRecords();
  const cleared = await records.labels.clear(principal, by);
  print({ principal, cleared }, [
    `The labels of ${principal} are cleared; running gateways follow within a few seconds`,
    ...cleared.map((source) => `  ${formatSource(source)}`),
  ]);
}

function describeUntil(until: number | undefined): string {
  return until === undefined
    ? "new sessions do not inherit them"
    : `new sessions inherit them until ${formatTime(until)}`;
}

function formatSource({ label, tool, execution, seq }: LabelSource): string {
  return `${label} (${tool}, call ${seq} of ${execution})`;
}

function formatTime(at: number): string {
  return new Date(at).toISOString();
}
