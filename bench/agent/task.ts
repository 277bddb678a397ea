/** One task of the bench, as data: what a person asks, what a model writes for it, and the right answer. */

import type { Json, JsonObject } from "../../src/domain/index.ts";

/** In the texts of a task, this stands for the folder that the file server may use. */
export const WORK = "WORK";

/** One use of a tool by a model that sees every server directly. */
export interface PlainCall {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** The server refuses it: a model makes this mistake with plain tools, too. */
  readonly fails?: true;
}

export interface Task {
  readonly name: string;
  readonly ask: string;
  /** Addresses of the tools that the program needs. The model searches until it has seen the signature of each. */
  readonly needs: readonly string[];
  /** Queries, in the order in which the model tries them. Without one the model writes the program at once. */
  readonly searches: readonly string[];
  readonly program: string;
  readonly input?: Json;
  /** What is wrong with the program, if the model makes a mistake. */
  readonly mistake?: string;
  /** A new program of the model, for a mistake that no edit repairs; the answer must name the cause. */
  readonly rewrite?: { readonly when: RegExp; readonly program: string };
  readonly expected: Json;
  /** The value may have more fields than the expected ones. */
  readonly isPartial?: true;
  /** A program that looks at the state afterwards; it is not counted. */
  readonly verify?: { readonly program: string; readonly expected: Json };
  /** Turns of a model without Glovebox; the calls of a turn are made at once. */
  readonly plain: readonly (readonly PlainCall[])[];
}

/** Ten tasks of one person in one session. A model remembers what it read earlier in it. */
export interface Conversation {
  readonly title: string;
  readonly tasks: readonly Task[];
}

export const call = (server: string, tool: string, args: JsonObject): PlainCall => ({ server, tool, args });

/** For a mistake that a model makes with plain tools, too. */
export const failing = (server: string, tool: string, args: JsonObject): PlainCall => ({
  server,
  tool,
  args,
  fails: true,
});

/** A text of a task with the folder in its place. */
export const placeIn = (work: string, text: string): string => text.replaceAll(WORK, work);
