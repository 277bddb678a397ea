/** A real child, driven frame by frame: programs one after the other, and frames that come too late. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { describe, it } from "node:test";

import { DEFAULT_LIMITS } from "../../domain/index.ts";
import { createEngine } from "../fixtures/engines.ts";
import { createFrameReader, encodeFrame } from "../frames.ts";
import type { Frame } from "../frames.ts";
import { TO_GUEST, TO_HOST } from "../wire.ts";

const MEMORY_BYTES = 64 * 1024 * 1024;
const MAX_FRAME_BYTES = 1024 * 1024;

interface RawChild extends Disposable {
  send(kind: number, id: number, text: string): void;
  start(javascript: string, memoryBytes?: number): void;
  /** The next frame of this kind; others are dropped. */
  next(kind: number): Promise<Frame>;
}

function openChild(name: "isolate" | "quickjs"): RawChild {
  const { file, args } = createEngine(name).command(MEMORY_BYTES);
  const child = spawn(file, args, { stdio: ["ignore", "ignore", "inherit", "pipe"], env: {} });
  const wire = child.stdio[3];
  assert.ok(wire instanceof Duplex);
  const frames = readFrames(wire);
  const send = (kind: number, id: number, text: string): void => void wire.write(encodeFrame(kind, id, 1, text));
  return {
    send,
    start(javascript, memoryBytes = MEMORY_BYTES) {
      const { wallMs, outputBytes, resultBytes: valueBytes, argumentBytes, depth } = DEFAULT_LIMITS;
      const limits = { wallMs, memoryBytes, outputBytes, valueBytes, argumentBytes, depth };
      const message = { javascript, namespaces: { tools: "echo" }, input: null, seed: [1, 2, 3, 4], limits };
      send(TO_GUEST.START, 0, JSON.stringify(message));
    },
    async next(kind) {
      for (;;) {
        const { value, done } = await frames.next();
        if (done) throw new Error("The child is gone");
        if (value.kind === kind) return value;
      }
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

async function* readFrames(wire: Duplex): AsyncGenerator<Frame, undefined> {
  const reader = createFrameReader(MAX_FRAME_BYTES);
  for await (const bytes of wire) {
    assert.ok(Buffer.isBuffer(bytes));
    reader.push(bytes);
    for (let frame = reader.next(); frame; frame = reader.next()) yield frame;
  }
  return undefined;
}

for (const engine of ["isolate", "quickjs"] as const) {
  describe(`a child of ${engine}`, () => {
    it(`a reply that reaches a child of ${engine} after its program ended does not reach the next program`, async () => {
      using child = openChild(engine);
      await child.next(TO_HOST.READY);
      child.start("tools.echo({}); return 1");
      const { id } = await child.next(TO_HOST.CALL);
      await child.next(TO_HOST.READY);
      child.send(TO_GUEST.REPLY, id, '"late"');
      child.start("return await tools.echo({})");
      assert.equal((await child.next(TO_HOST.CALL)).id, id);
      child.send(TO_GUEST.REPLY, id, '"mine"');
      assert.equal((await child.next(TO_HOST.DONE)).text, '"mine"');
    });

    it(`a child of ${engine} runs programs with other memory limits one after the other`, async () => {
      using child = openChild(engine);
      for (const memoryBytes of [MEMORY_BYTES, 2 * MEMORY_BYTES, MEMORY_BYTES]) {
        await child.next(TO_HOST.READY);
        child.start("const before = typeof left; globalThis.left = 1; return before", memoryBytes);
        assert.equal((await child.next(TO_HOST.DONE)).text, '"undefined"');
      }
    });
  });
}
