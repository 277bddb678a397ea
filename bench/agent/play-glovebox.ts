/** Plays tasks as a model with Glovebox does: it searches for what it has not seen yet, writes a program, and repairs it. */

import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { isJsonObject } from "../../src/domain/index.ts";
import type { Json } from "../../src/domain/index.ts";
import { connectGlovebox } from "./open-client.ts";
import type { Answer, BenchClient } from "./open-client.ts";
import type { World } from "./open-world.ts";
import { repairProgram } from "./repair.ts";
import type { ProgramRequest } from "./repair.ts";
import { hasSignature } from "./signatures.ts";
import { placeIn } from "./task.ts";
import type { Task } from "./task.ts";

const POLL_MS = 100;
/** More programs than this for one task, and a model has given up. */
const MAX_PROGRAMS = 4;

export interface GloveboxFigures {
  readonly text: number;
  readonly structured: number;
  readonly trips: number;
  /** Programs after the first. */
  readonly repairs: number;
  readonly asks: number;
  /** The model had to look for a tool. */
  readonly isNew: boolean;
  readonly isRight: boolean;
  /** Answers that were wrong without an error or a warning. */
  readonly silent: number;
  /** What the last answer said, if it was not right. */
  readonly last?: string;
}

export interface GloveboxSide extends AsyncDisposable {
  readonly fixed: number;
  play(task: Task): Promise<GloveboxFigures>;
}

/** One session, in which the model remembers every answer. */
export async function openGloveboxSide({ servers, openapi, settings, work }: World): Promise<GloveboxSide> {
  const client = await connectGlovebox(settings, { mcpServers: servers, openapi });
  await waitForServers(client);
  const session = new Session(client, work);
  return {
    fixed: client.fixed,
    play: (task) => session.play(task),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/** A search before a server is ready does not find its tools. Not counted. */
async function waitForServers(client: BenchClient): Promise<void> {
  const isWaiting = (server: unknown): boolean => isJsonObject(server) && server["state"] !== "ready";
  for (;;) {
    const { servers } = (await client.call("search", { query: "" })).content;
    if (!Array.isArray(servers) || !servers.some(isWaiting)) return;
    await sleep(POLL_MS);
  }
}

class Session {
  readonly #client: BenchClient;
  readonly #work: string;
  readonly #seen: Answer[] = [];
  #counts = { text: 0, structured: 0, trips: 0 };

  constructor(client: BenchClient, work: string) {
    this.#client = client;
    this.#work = work;
  }

  async play(task: Task): Promise<GloveboxFigures> {
    this.#counts = { text: 0, structured: 0, trips: 0 };
    const asksBefore = this.#client.asks();
    const isNew = await this.#learn(task);
    const { programs, silent, isRight, last } = await this.#solve(task);
    const asks = this.#client.asks() - asksBefore;
    return { ...this.#counts, repairs: programs - 1, asks, isNew, isRight, silent, ...(!isRight && { last }) };
  }

  /** Searches until every tool was named, and describes those whose signature was not shown. */
  async #learn({ needs, searches }: Task): Promise<boolean> {
    const missing = (): readonly string[] => needs.filter((name) => !this.#knows((form) => hasSignature(form, name)));
    if (searches.length === 0 || missing().length === 0) return false;
    for (const query of searches) {
      await this.#ask("search", { query });
      if (needs.every((name) => this.#knows((form) => form.includes(name)))) break;
    }
    if (missing().length > 0) await this.#ask("describe", { names: missing() });
    return true;
  }

  #knows(isIn: (form: string) => boolean): boolean {
    return this.#seen.some(({ text, structured }) => isIn(text) && isIn(structured));
  }

  async #solve(task: Task): Promise<{ programs: number; silent: number; isRight: boolean; last: string }> {
    let request: ProgramRequest = { code: placeIn(this.#work, task.program) };
    if (task.input !== undefined) request = { ...request, input: task.input };
    let silent = 0;
    for (let programs = 1; ; programs += 1) {
      const answer = await this.#ask("execute", request);
      if (await this.#isRight(task, answer)) return { programs, silent, isRight: true, last: "" };
      if (isSilent(answer)) silent += 1;
      const next = programs < MAX_PROGRAMS ? repairProgram(task, request, answer, this.#work) : undefined;
      if (!next) return { programs, silent, isRight: false, last: answer.text };
      request = next;
    }
  }

  /** The value is right, and so is what it says about the servers. */
  async #isRight({ expected, isPartial, verify }: Task, { content }: Answer): Promise<boolean> {
    const { state, value } = content;
    if (state !== "completed" || !matches(value, expected, isPartial === true)) return false;
    if (!verify) return true;
    const looked = await this.#client.call("execute", { code: placeIn(this.#work, verify.program) });
    return isDeepStrictEqual(looked.content["value"], verify.expected);
  }

  async #ask(name: string, args: object): Promise<Answer> {
    const answer = await this.#client.call(name, args);
    const request = name.length + JSON.stringify(args).length;
    this.#counts.text += request + answer.text.length;
    this.#counts.structured += request + answer.structured.length;
    this.#counts.trips += 1;
    this.#seen.push(answer);
    return answer;
  }
}

function matches(value: unknown, expected: Json, isPartial: boolean): boolean {
  if (!isPartial || !isJsonObject(expected) || !isJsonObject(value)) return isDeepStrictEqual(value, expected);
  return Object.entries(expected).every(([key, item]) => isDeepStrictEqual(value[key], item));
}

/** Looks like a success, and nothing tells the model that it is not one. */
function isSilent({ content }: Answer): boolean {
  const findings = Array.isArray(content["findings"]) ? content["findings"] : [];
  const isWarned = findings.some((finding) => isJsonObject(finding) && finding["severity"] !== "info");
  return content["state"] === "completed" && !isWarned;
}
