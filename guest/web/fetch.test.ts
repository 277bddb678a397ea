/** `fetch` and its kin without a host: what is sent across, and what is made of the answer. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { AbortController, AbortSignal, Headers, URLSearchParams, createFetch, createTimeout } from "./index.ts";

const ANSWER = {
  url: "https://a.example/x",
  status: 404,
  statusText: "Not Found",
  redirected: false,
  headers: [],
  text: "{}",
};

/** What crosses for one call. */
async function sent(url: unknown, init?: object): Promise<unknown> {
  let request: unknown;
  await createFetch(async (asked) => {
    request = asked;
    return ANSWER;
  })(url, init);
  return JSON.parse(JSON.stringify(request));
}

describe("a request", () => {
  it("fetch sends plain data with the method, the headers and one kind of body", async () => {
    const url = "https://a.example/";
    assert.deepEqual(await sent(url), { url, method: "GET", headers: [] });
    assert.deepEqual(await sent(new URL(url), { method: "post", headers: { B: "1", A: "2" }, body: "text" }), {
      url,
      method: "post",
      headers: [
        ["a", "2"],
        ["b", "1"],
        ["content-type", "text/plain;charset=UTF-8"],
      ],
      text: "text",
    });
    const form = await sent(url, { method: "PUT", body: new URLSearchParams({ a: "b c" }) });
    const type = "application/x-www-form-urlencoded;charset=UTF-8";
    assert.deepEqual(form, { url, method: "PUT", headers: [["content-type", type]], text: "a=b+c" });
    for (const body of [
      new Uint8Array([0, 255]),
      new Uint8Array([0, 255]).buffer,
      new DataView(new Uint8Array([0, 255]).buffer),
    ]) {
      assert.deepEqual(await sent(url, { method: "POST", body }), { url, method: "POST", headers: [], base64: "AP8=" });
    }
  });
  it("fetch keeps the media type of the program", async () => {
    const init = { method: "POST", body: "{}", headers: new Headers([["Content-Type", "application/json"]]) };
    assert.deepEqual(await sent("x", init), {
      url: "x",
      method: "POST",
      headers: [["content-type", "application/json"]],
      text: "{}",
    });
  });
  it("fetch refuses an ambiguous body or option", async () => {
    for (const init of [{ body: {} }, { body: [] }, { redirect: "manual" }, { signal: {} }, { headers: 1 }]) {
      await assert.rejects(sent("x", init), TypeError);
    }
    await assert.rejects(sent(undefined), TypeError);
  });
});

describe("a response", () => {
  it("a response has the parts of the standard, and a body that can be read once", async () => {
    const response = await createFetch(async () => ({ ...ANSWER, headers: [["x-a", "1"]], text: '{"a":"ü"}' }))("x");
    const { ok, status, statusText, url, redirected, bodyUsed } = response;
    assert.deepEqual(
      [ok, status, statusText, url, redirected, bodyUsed],
      [false, 404, "Not Found", ANSWER.url, false, false],
    );
    assert.deepEqual([...response.headers], [["x-a", "1"]]);
    const copy = response.clone();
    assert.deepEqual(await response.json(), { a: "ü" });
    assert.equal(response.bodyUsed, true);
    await assert.rejects(response.text(), TypeError);
    assert.throws(() => response.clone(), TypeError);
    assert.equal((await copy.bytes()).length, 10);
  });
  it("a response returns its bytes unchanged, and decodes them as text", async () => {
    const fetch = createFetch(async () => ({ ...ANSWER, text: undefined, base64: "QQD/" }));
    assert.deepEqual([...(await (await fetch("x")).bytes())], [65, 0, 255]);
    assert.equal((await (await fetch("x")).arrayBuffer()).byteLength, 3);
    assert.equal(await (await fetch("x")).text(), "A\0\ufffd");
  });
});

describe("a signal", () => {
  it("an AbortSignal rejects fetch with its reason, before and after the request is sent", async () => {
    const never = createFetch(() => new Promise(() => undefined));
    await assert.rejects(never("x", { signal: AbortSignal.abort("gone") }), (reason) => reason === "gone");
    const controller = new AbortController();
    const pending = never("x", { signal: controller.signal });
    controller.abort();
    await assert.rejects(pending, { name: "AbortError" });
    const timeout = createTimeout((callback, delayMs) => setTimeout(callback, delayMs));
    await assert.rejects(never("x", { signal: timeout(5) }), { name: "TimeoutError" });
  });
  it("an AbortSignal that never fires does not change fetch", async () => {
    const { signal } = new AbortController();
    assert.equal((await createFetch(async () => ANSWER)("x", { signal })).status, 404);
  });
});
