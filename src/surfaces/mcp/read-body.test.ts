/** Bodies that arrive slowly share one budget; the oldest of them is dropped above it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createBodyReader } from "./read-body.ts";

/** A request whose body arrives when the test sends it. */
function slowRequest() {
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const writer = pipe.writable.getWriter();
  return {
    request: new Request("http://127.0.0.1/mcp", { method: "POST", body: pipe.readable, duplex: "half" }),
    send: (text: string) => writer.write(Buffer.from(text)),
    end: () => writer.close(),
    disconnect: () => writer.abort(new Error("connection lost")),
  };
}

const LIMITS = { requestBytes: 6, unfinishedBytes: 10 };
const DROPPED = {
  code: "LIMIT_BUSY",
  message: "Unfinished request bodies have more than 10 bytes in all",
};

test("a body is read in chunks of any size, also beyond the first buffer", async () => {
  const read = createBodyReader({ requestBytes: 100_000, unfinishedBytes: 100_000 });
  const { request, send, end } = slowRequest();
  const text = read(request);
  for (const part of ["é", "b".repeat(5_000), "", "c".repeat(20_000)]) await send(part);
  await end();
  assert.equal(await text, `é${"b".repeat(5_000)}${"c".repeat(20_000)}`);
  assert.equal(await read(new Request("http://127.0.0.1/mcp", { method: "POST" })), "");
});

test("a body below and at the size of a request is read, and one byte more is too large", async () => {
  const read = createBodyReader(LIMITS);
  const post = (body: string) => read(new Request("http://127.0.0.1/mcp", { method: "POST", body }));
  assert.deepEqual([await post("12345"), await post("123456"), await post("1234567")], ["12345", "123456", undefined]);
});

test("unfinished bodies below and at the budget are all read", async () => {
  for (const last of ["1234", "12345"]) {
    const read = createBodyReader(LIMITS);
    const [one, two] = [slowRequest(), slowRequest()];
    const texts = [read(one.request), read(two.request)];
    await one.send("12345");
    await two.send(last);
    await Promise.all([one.end(), two.end()]);
    assert.deepEqual(await Promise.all(texts), ["12345", last]);
  }
});

test("above the budget the body that started first is dropped, and the later one is read", async () => {
  const read = createBodyReader(LIMITS);
  const [one, two] = [slowRequest(), slowRequest()];
  const texts = [read(one.request), read(two.request)];
  const dropped = assert.rejects(texts[0] ?? Promise.resolve(), DROPPED);
  await one.send("12345");
  await two.send("123456");
  await dropped;
  await two.end();
  assert.equal(await texts[1], "123456");
});

test("finished, refused and interrupted bodies leave the budget", async () => {
  const read = createBodyReader(LIMITS);
  for (let round = 0; round < 5; round += 1) {
    const [finished, tooLarge, interrupted] = [slowRequest(), slowRequest(), slowRequest()];
    const [whole, none, broken] = [read(finished.request), read(tooLarge.request), read(interrupted.request)];
    const rejected = assert.rejects(broken, { code: "REQUEST_INVALID" });
    await interrupted.send("123");
    await interrupted.disconnect();
    await rejected;
    await tooLarge.send("123");
    await tooLarge.send("1234").catch(() => undefined);
    assert.equal(await none, undefined);
    await finished.send("123456");
    await finished.end();
    assert.equal(await whole, "123456");
  }
});
