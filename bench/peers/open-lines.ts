/** Sends one JSON object a line to a process, and waits for the line with the same id. */

import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export type LineServer = ChildProcessByStdio<Writable, Readable, null>;

type Message = Readonly<Record<string, unknown>>;

/** Owns the process and ends it when disposed. */
export function openLines(server: LineServer) {
  const waiting = new Map<unknown, PromiseWithResolvers<Message>>();
  let asked = 0;
  createInterface({ input: server.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    waiting.get(message["id"])?.resolve(message);
    waiting.delete(message["id"]);
  });
  const ended = once(server, "exit").then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`The process ended with ${server.exitCode}.`));
  });
  const send = (message: object): void => void server.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    pid: server.pid ?? 0,
    send,
    ask(message: object): Promise<Message> {
      asked += 1;
      const answer = Promise.withResolvers<Message>();
      waiting.set(asked, answer);
      send({ id: asked, ...message });
      return answer.promise;
    },
    async [Symbol.asyncDispose]() {
      server.kill();
      await ended;
    },
  };
}
