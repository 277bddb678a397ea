/** The figures of all tasks, and whether the aims are reached. */

import type { GloveboxFigures } from "./play-glovebox.ts";
import type { PlainFigures } from "./play-plain.ts";
import type { Task } from "./task.ts";

const CHARACTERS_PER_TOKEN = 4;
/** The tasks that share the definitions and instructions of one conversation. */
const TASKS_PER_CONVERSATION = 10;

export interface PlayedTask {
  readonly task: Task;
  readonly plain: PlainFigures;
  readonly ours: GloveboxFigures;
  /** Characters that each side has in the context before the first task. */
  readonly fixed: { readonly plain: number; readonly ours: number };
}

/** Tokens of one task with its share of the fixed cost. Plain MCP counts in the cheaper of its two forms. */
export interface TaskTokens {
  readonly plain: number;
  readonly text: number;
  readonly structured: number;
}

export function toTokens({ plain, ours, fixed }: PlayedTask): TaskTokens {
  const tokens = (characters: number, once: number): number =>
    Math.round((characters + once / TASKS_PER_CONVERSATION) / CHARACTERS_PER_TOKEN);
  return {
    plain: tokens(Math.min(plain.text, plain.structured), fixed.plain),
    text: tokens(ours.text, fixed.ours),
    structured: tokens(ours.structured, fixed.ours),
  };
}

export const isCheaper = (played: PlayedTask): boolean => {
  const { plain, text, structured } = toTokens(played);
  return text < plain && structured < plain;
};

/** Right at once, or with the first program after the answer. */
export const isRepaired = ({ ours }: PlayedTask): boolean => ours.isRight && ours.repairs <= 1;

interface Aim {
  readonly name: string;
  readonly measured: string;
  readonly isReached: boolean;
  readonly missed: readonly PlayedTask[];
}

function toAims(all: readonly PlayedTask[]): readonly Aim[] {
  const dear = all.filter((played) => !isCheaper(played));
  const trips = all.filter(({ ours, task }) => ours.isNew && task.mistake === undefined).map(({ ours }) => ours.trips);
  const median = trips.toSorted((a, b) => a - b)[Math.floor(trips.length / 2)] ?? 0;
  const mistakes = all.filter(({ task }) => task.mistake !== undefined);
  const unrepaired = mistakes.filter((played) => !isRepaired(played));
  const silent = all.filter(({ ours }) => ours.silent > 0);
  const wrong = all.filter(({ ours, task }) => task.mistake === undefined && !ours.isRight);
  return [
    {
      name: "fewer tokens than plain MCP on every task, by either form",
      measured: `${all.length - dear.length} of ${all.length}`,
      isReached: dear.length === 0,
      missed: dear,
    },
    {
      name: "two round trips for a new task, median",
      measured: `${median} (${trips.length} tasks)`,
      isReached: median <= 2,
      missed: [],
    },
    {
      name: "nine of ten mistakes repaired by the next program",
      measured: `${mistakes.length - unrepaired.length} of ${mistakes.length}`,
      isReached: unrepaired.length <= mistakes.length / 10,
      missed: unrepaired,
    },
    { name: "no silent wrong answer", measured: `${silent.length}`, isReached: silent.length === 0, missed: silent },
    {
      name: "no wrong answer to a right program",
      measured: `${wrong.length}`,
      isReached: wrong.length === 0,
      missed: wrong,
    },
  ];
}

const COLUMNS = [
  "Plain, tokens",
  "Text, tokens",
  "Structured, tokens",
  "Trips",
  "Plain trips",
  "Repairs",
  "Asks",
] as const;

/** The cost before the first task, the aims and all tasks, as Markdown. */
export function writeFigures(all: readonly PlayedTask[]): string {
  const [first] = all;
  const once = (characters = 0): number => Math.round(characters / CHARACTERS_PER_TOKEN);
  const rows = all.map((played) => ({ played, figures: toRow(played) }));
  const sums = COLUMNS.map((_, at) => rows.reduce((sum, { figures }) => sum + (figures[at] ?? 0), 0));
  return [
    `Definitions and instructions have ${once(first?.fixed.plain)} tokens with plain MCP and ${once(first?.fixed.ours)} with Glovebox.`,
    "",
    "| Aim | Measured | |",
    "| --- | --- | --- |",
    ...toAims(all).map(
      ({ name, measured, isReached }) => `| ${name} | ${measured} | ${isReached ? "reached" : "missed"} |`,
    ),
    "",
    `| Task | ${COLUMNS.join(" | ")} | |`,
    `| --- |${" --- |".repeat(COLUMNS.length + 1)}`,
    ...rows.map(({ played, figures }) => `| ${toTitle(played)} | ${figures.join(" | ")} | ${toMarks(played)} |`),
    `| **sum** | ${sums.join(" | ")} | |`,
  ].join("\n");
}

/** Each missed aim with its tasks and what the last answer said. */
export function writeMisses(all: readonly PlayedTask[]): string {
  return toAims(all)
    .flatMap(({ name, isReached, missed }) =>
      isReached ? [] : [`MISS ${name}`, ...missed.map(({ task, ours }) => `  ${task.name}${explain(task, ours)}`)],
    )
    .join("\n");
}

function toTitle({ task: { name, mistake } }: PlayedTask): string {
  return mistake === undefined ? name : `${name} (mistake)`;
}

function toMarks(played: PlayedTask): string {
  const { silent, isRight } = played.ours;
  const marks = [!isCheaper(played) && "dearer", silent > 0 && "silent", !isRight && "wrong"];
  return marks.filter((mark) => mark !== false).join(", ");
}

function toRow(played: PlayedTask): readonly number[] {
  const { plain, text, structured } = toTokens(played);
  const { ours } = played;
  return [plain, text, structured, ours.trips, played.plain.trips, ours.repairs, ours.asks];
}

function explain({ mistake }: Task, { last }: GloveboxFigures): string {
  const what = mistake === undefined ? "" : ` (${mistake})`;
  return last === undefined ? what : `${what}\n${last.replaceAll(/^/gm, "        > ")}`;
}
