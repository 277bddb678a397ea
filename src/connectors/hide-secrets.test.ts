/** A lent secret does not come back, in any form and place. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { GloveboxError, parseConnectorId } from "../domain/index.ts";
import type { CallProgress, Json } from "../domain/index.ts";
import { createPathMask } from "../text/index.ts";
import { createMask } from "../vault/index.ts";
import type { Connector, RemoteResult } from "./connector.ts";
import { hideSecrets } from "./hide-secrets.ts";

const SECRET = "s3cr/et+value==";
const id = parseConnectorId("up");
assert.ok(id);

/** An upstream that returns `text` wherever it can. */
function sayingOf(text: string, value: Json = text, file = "", name = "t"): Connector {
  assert.ok(id);
  const result: RemoteResult = {
    value,
    attachments: file === "" ? [] : [{ path: [], kind: "blob", mimeType: "text/plain", base64: file }],
  };
  return {
    id,
    status: () => ({ name: id, state: "failed", transport: "stdio", tools: 0, since: 0, cause: text, stderr: [text] }),
    tools: async () => [{ name, description: text, input: { description: text }, output: null, annotations: {} }],
    call: async (name, _args, { onProgress }) => {
      onProgress?.({ done: 1, message: text });
      if (name === "fail") throw new GloveboxError("UPSTREAM_FAILED", text, { hint: text });
      return result;
    },
    onToolsChanged: () => () => undefined,
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function hidden(connector: Connector, secret = SECRET): Connector {
  const { add, hide } = createMask({ shortest: 4 });
  add(secret);
  return hideSecrets(connector, { hide, hideOwn: hide });
}
const signal = new AbortController().signal;

it("refuses a result with more keys in one object than there may be, and returns one with as many", async () => {
  const fields = (count: number): Json =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, at]));
  const ask = (count: number) =>
    hidden(sayingOf("", { fields: fields(count) })).call("t", {}, { signal: new AbortController().signal });
  assert.deepEqual((await ask(50_000)).value, { fields: fields(50_000) });
  await assert.rejects(ask(50_001), {
    code: "LIMIT_SIZE",
    message: "The result has an object with more than 50000 keys",
  });
});

describe("hideSecrets", () => {
  const forms = {
    itself: SECRET,
    "as base64": Buffer.from(SECRET).toString("base64"),
    "percent-encoded": encodeURIComponent(SECRET),
    "with escaped slashes": SECRET.replaceAll("/", "\\/"),
  };
  for (const [name, form] of Object.entries(forms)) {
    it(`masks a secret ${name}, in values and in keys`, async () => {
      const connector = hidden(sayingOf("", { [`k ${form}`]: [`v ${form}`, 1] }));
      const { value } = await connector.call("t", {}, { signal });
      assert.deepEqual(value, { "k [secret]": ["v [secret]", 1] });
    });
  }
  it("writes the home folder as ~ in errors, progress and statuses, unless it is in the arguments", async () => {
    const text = "cannot open /home/ada/a.txt";
    const maskHome = createPathMask({ paths: [], home: "/home/ada" }).home;
    const plain = (same: string): string => same;
    const connector = hideSecrets(sayingOf(text, { path: text }), { hide: plain, hideOwn: plain, maskHome });
    const shown: (string | undefined)[] = [];
    const options = { signal, onProgress: ({ message }: { message?: string }) => void shown.push(message) };
    await assert.rejects(connector.call("fail", { path: "a.txt" }, options), { message: "cannot open ~/a.txt" });
    await assert.rejects(connector.call("fail", { path: "/home/ada/a.txt" }, options), { message: text });
    assert.deepEqual(shown, ["cannot open ~/a.txt", text]);
    assert.equal(connector.status().cause, "cannot open ~/a.txt");
    assert.deepEqual((await connector.call("t", {}, { signal })).value, { path: text });
  });
  it("passes a result of 512 levels and refuses a deeper one", async () => {
    const nest = (depth: number): Json => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
    const call = (depth: number) => hidden(sayingOf("", nest(depth))).call("t", {}, { signal });
    for (const depth of [511, 512]) assert.deepEqual((await call(depth)).value, nest(depth));
    for (const depth of [513, 3_000, 100_000]) await assert.rejects(call(depth), { code: "LIMIT_SIZE" });
  });
  it("masks a secret in errors, hints, states, descriptions and progress", async () => {
    const connector = hidden(sayingOf(`bad ${SECRET}`));
    const heard: CallProgress[] = [];
    await connector.call("t", {}, { signal, onProgress: (progress) => heard.push(progress) });
    await assert.rejects(connector.call("fail", {}, { signal }), {
      code: "UPSTREAM_FAILED",
      message: "bad [secret]",
      details: { hint: "bad [secret]" },
    });
    const { cause, stderr } = connector.status();
    const [tool] = await connector.tools();
    assert.deepEqual(
      [cause, stderr, tool?.description, tool?.input, heard],
      [
        "bad [secret]",
        ["bad [secret]"],
        "bad [secret]",
        { description: "bad [secret]" },
        [{ done: 1, message: "bad [secret]" }],
      ],
    );
  });
  it("refuses an answer with a secret in a file, and leaves other files alone", async () => {
    const file = (text: string): string => Buffer.from(text).toString("base64");
    await assert.rejects(hidden(sayingOf("", null, file(`x ${SECRET}`))).call("t", {}, { signal }), {
      code: "UPSTREAM_RESULT_INVALID",
    });
    const { attachments } = await hidden(sayingOf("", null, file("harmless"))).call("t", {}, { signal });
    assert.equal(attachments[0]?.base64, file("harmless"));
  });
  it("refuses a large file with a secret anywhere in it, and leaves one without it alone", async () => {
    const file = (at: number): string => {
      const bytes = Buffer.alloc(1_200_000, 0xe9);
      if (at >= 0) bytes.write(SECRET, at);
      return bytes.toString("base64");
    };
    const call = (at: number) => hidden(sayingOf("", null, file(at))).call("t", {}, { signal });
    for (const border of [262_144, 524_288, 786_432, 1_048_576])
      for (const at of [border - SECRET.length, border - 5, border, 1_200_000 - SECRET.length])
        await assert.rejects(call(at), { code: "UPSTREAM_RESULT_INVALID" }, String(at));
    assert.equal((await call(-1)).attachments[0]?.base64, file(-1));
  });
  it("hideSecrets does not offer a tool whose name holds a secret, and offers others", async () => {
    const names = async (name: string) => (await hidden(sayingOf("", null, "", name)).tools()).map((tool) => tool.name);
    assert.deepEqual(await names(`get_${SECRET}`), []);
    assert.deepEqual(await names("get"), ["get"]);
  });
  it("masks another upstream's secret in answers, without changing a definition", async () => {
    const { add, hide } = createMask();
    add(SECRET);
    const connector = hideSecrets(sayingOf(SECRET), { hide, hideOwn: (text) => text });
    const [tool] = await connector.tools();
    const { value } = await connector.call("t", {}, { signal });
    assert.deepEqual([tool?.description, value], [SECRET, "[secret]"]);
  });
  it("hideSecrets does not mask a value that is too short to be told from ordinary words, nor what is not a secret", async () => {
    const connector = hidden(sayingOf("", "a cat sat"), "cat");
    assert.equal((await connector.call("t", {}, { signal })).value, "a cat sat");
    assert.equal((await hidden(sayingOf("", "plain")).call("t", {}, { signal })).value, "plain");
  });
});
