/** Plays tasks as a model with the tools of every server in its context does. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type { JsonObject } from "../../src/domain/index.ts";
import { connectGlovebox, connectPlain } from "./open-client.ts";
import type { BenchClient } from "./open-client.ts";
import type { World } from "./open-world.ts";
import { placeIn } from "./task.ts";
import type { Task } from "./task.ts";

/** Characters that enter the context, by the form that the client shows, and turns of the model. */
export interface PlainFigures {
  readonly text: number;
  readonly structured: number;
  readonly trips: number;
}

export interface PlainSide extends AsyncDisposable {
  readonly fixed: number;
  play(task: Task): Promise<PlainFigures>;
}

/** Connects to each server directly. The code host is offered as a server with one tool for each operation. */
export async function openPlainSide({ servers, openapi, settings, work }: World): Promise<PlainSide> {
  const folder = join(settings, "plain");
  mkdirSync(folder);
  const config = { mcpServers: {}, openapi, expose: "tools", policy: { profile: "open" } };
  await using opened = new AsyncDisposableStack();
  const keep = async (name: string, opening: Promise<BenchClient>): Promise<[string, BenchClient]> => [
    name,
    opened.use(await opening),
  ];
  const clients = new Map([
    await keep("codehost", connectGlovebox(folder, config, ["resume"])),
    ...(await Promise.all(Object.entries(servers).map(([name, server]) => keep(name, connectPlain(server, settings))))),
  ]);
  const closing = opened.move();
  return {
    fixed: [...clients.values()].reduce((sum, { fixed }) => sum + fixed, 0),
    play: (task) => playPlain(clients, task, work),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Throws if a server does not behave as the task says, because its figures would mean nothing. */
async function playPlain(clients: ReadonlyMap<string, BenchClient>, task: Task, work: string): Promise<PlainFigures> {
  let [text, structured] = [0, 0];
  for (const { server, tool, args, fails = false } of task.plain.flat()) {
    const client = clients.get(server);
    const given = JSON.parse(placeIn(work, JSON.stringify(args))) as JsonObject;
    const answer = await client?.call(tool, given);
    if (!answer || answer.isError !== fails) throw new Error(`${task.name}: ${tool} of ${server}: ${answer?.text}`);
    const request = tool.length + JSON.stringify(given).length;
    text += request + answer.text.length;
    structured += request + answer.structured.length;
  }
  return { text, structured, trips: task.plain.length };
}
