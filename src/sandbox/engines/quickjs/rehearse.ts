/**
 * Runs one program before the first real one: the functions of the engine that nearly every program needs are compiled
 * by then, and an engine that cannot run it ends the child before it is ready.
 */

import { REHEARSAL, TO_GUEST, TO_HOST } from "../../wire.ts";
import type { CreateRealm } from "../realm.ts";

/** The calls that nearly every program makes. */
const PROGRAM = `console.log("text", { list: [1, true, null] });
const echoed = await tools.echo({ text: "x", nested: { list: [1, 2] } });
await tools.fail().catch(() => undefined);
return { echoed, at: new Date(), random: Math.random(), map: new Map([["key", 1]]), set: new Set([1]) };`;

/** Never reached on a machine that works, however busy: the pool ends a child that takes too long to start. */
const PATIENCE_MS = 600_000;

export async function rehearse(createRealm: CreateRealm): Promise<void> {
  const { memoryBytes } = REHEARSAL.limits;
  const kinds: number[] = [];
  const realm = await createRealm(memoryBytes, (kind) => void kinds.push(kind));
  realm.start(PROGRAM, JSON.stringify({ ...REHEARSAL, namespaces: { tools: "echo,fail" } }), 1, PATIENCE_MS);
  realm.deliver({ kind: TO_GUEST.REPLY, id: 1, text: '{"text":"x"}', atMs: 2 }, PATIENCE_MS);
  const failure = '{"code":"UPSTREAM_FAILED","message":"x","retry":false}';
  realm.deliver({ kind: TO_GUEST.FAILURE, id: 2, text: failure, atMs: 3 }, PATIENCE_MS);
  realm.dispose();
  if (kinds.at(-1) !== TO_HOST.DONE) throw new TypeError(`The rehearsal sent the frames ${kinds.join(", ")}`);
}
