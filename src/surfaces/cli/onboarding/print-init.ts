/** What `init` found and changes, for people and for scripts. Secrets are never printed. */

import { describeError } from "../../../domain/index.ts";
import type { InitPlan } from "../../../onboarding/index.ts";
import { compareLines } from "../../../text/index.ts";
import { AROUND, formatFault } from "../print.ts";

export function describePlan(plan: InitPlan): readonly string[] {
  const withoutSecrets = createSecretMask(plan);
  const { clients, servers, edits, secrets, missingSecrets } = plan;
  return [
    "Clients:",
    ...clients.flatMap(({ title, path, problem, servers: names, left }) => [
      `  ${title} (${path}): ${names.length === 0 ? "no servers" : names.join(", ")}`,
      ...(problem ? [`    ${formatFault(problem).replaceAll("\n", "\n    ")}`] : []),
      ...left.map(({ name, reason }) => `    ${name} stays there: ${reason}`),
    ]),
    ...(servers.length > 0 ? ["Servers to import:"] : []),
    ...servers.flatMap(({ name, clients: from, warnings, needsConfirmation }) => [
      `  ${name} (${from.join(", ")})${needsConfirmation ? ", disabled: it is from a file of the project" : ""}`,
      ...warnings.map((warning) => `    ${warning}`),
    ]),
    ...secrets.map(({ name }) => `  the secret ${name} moves to the vault`),
    ...missingSecrets.map((name) => `  the secret ${name} is missing: glovebox secrets set ${name}`),
    ...(edits.length === 0 ? ["Nothing changes."] : []),
    ...edits.flatMap(({ path, text = "", after }) => [
      "",
      `Changes of ${path}:`,
      ...compareLines(text, after, AROUND).map((line) => withoutSecrets(line)),
    ]),
  ];
}

export function describeResult(
  plan: InitPlan,
  {
    config,
    isApplied,
    next = [],
  }: { readonly config: string; readonly isApplied: boolean; readonly next?: readonly string[] },
) {
  const { clients, servers, secrets, missingSecrets, edits } = plan;
  return {
    config,
    applied: isApplied,
    clients: clients.map(({ problem, left, ...client }) => ({
      ...client,
      ...(left.length > 0 && { left }),
      ...(problem && { problem: describeError(problem) }),
    })),
    servers: servers.map(({ name, clients: from, warnings, needsConfirmation, entry }) => ({
      name,
      clients: from,
      warnings,
      disabled: needsConfirmation || entry["disabled"] === true,
    })),
    secrets: secrets.map(({ name }) => name),
    missingSecrets,
    changes: edits.map(({ path }) => path),
    next,
  };
}

/** What a person does now. */
export function listNextSteps(
  { clients, servers, missingSecrets, edits }: InitPlan,
  config: string,
): readonly string[] {
  const changed = clients.filter(({ path }) => edits.some((edit) => edit.path === path)).map(({ title }) => title);
  const disabled = servers.filter(({ needsConfirmation }) => needsConfirmation).map(({ name }) => name);
  return [
    `The configuration is ${config}.`,
    ...missingSecrets.map((name) => `Set a secret: glovebox secrets set ${name} --config ${config}`),
    ...(disabled.length > 0
      ? [
          `Disabled until you remove "disabled" in the configuration: ${disabled.join(", ")} (from files of the project).`,
        ]
      : []),
    ...(changed.length > 0
      ? [`Restart ${[...new Set(changed)].join(", ")}, and ask for something that needs a tool.`]
      : []),
    "glovebox eject undoes everything.",
  ];
}

/** For the lines that a change removes. */
export function createSecretMask({ secrets }: InitPlan): (line: string) => string {
  const values = secrets.flatMap(({ value }) => [value, JSON.stringify(value).slice(1, -1)]);
  const longest = [...new Set(values)].toSorted((one, other) => other.length - one.length);
  return (line) => longest.reduce((text, value) => text.replaceAll(value, "[secret]"), line);
}
