/** Plays conversations against plain MCP and against Glovebox, each with its own copy of the servers. */

import { openGloveboxSide } from "./play-glovebox.ts";
import { openPlainSide } from "./play-plain.ts";
import { openWorld } from "./open-world.ts";
import type { PlayedTask } from "./report.ts";
import type { Conversation } from "./task.ts";

export async function playConversation({ tasks }: Conversation): Promise<readonly PlayedTask[]> {
  await using plainWorld = await openWorld();
  await using ownWorld = await openWorld();
  await using plainSide = await openPlainSide(plainWorld);
  await using ownSide = await openGloveboxSide(ownWorld);
  const fixed = { plain: plainSide.fixed, ours: ownSide.fixed };
  const played: PlayedTask[] = [];
  for (const task of tasks) {
    played.push({ task, plain: await plainSide.play(task), ours: await ownSide.play(task), fixed });
  }
  return played;
}
