/** Client documents, over the real egress rules in a simulated internet. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openEgress } from "../../egress/index.ts";
import { PUBLIC, createStubNetwork, openStubServers } from "../../egress/fixtures/stub-network.ts";
import { isApplicationUrl } from "./application-url.ts";
import { MAX_DOCUMENT_BYTES, createDocumentFetch, normalizeClient } from "./client-metadata.ts";

const DOCUMENT = { client_id: "https://allowed.example/c.json", redirect_uris: ["https://allowed.example/callback"] };

test("a document is read from a public address over https, and from nowhere else", async () => {
  using servers = openStubServers();
  const network = createStubNetwork();
  await using egress = openEgress({ network });
  let [isAdmitted, body, location] = [true, JSON.stringify(DOCUMENT), ""];
  const seen: string[] = [];
  const port = await servers.https((request, response) => {
    seen.push(`${request.headers.host}${request.url}`);
    if (location !== "") response.writeHead(302, { location });
    response.end(body);
  });
  for (const address of [PUBLIC, "127.0.0.1", "169.254.169.254", "10.0.0.1"]) network.ports.set(`${address}:443`, port);
  network.answers.set("allowed.example", [PUBLIC]);
  network.answers.set("other.example", ["10.0.0.1"]);
  const fetch = createDocumentFetch(egress, () => isAdmitted);
  const read = async (url: string): Promise<unknown> => (await fetch(url)).json();
  const fine = DOCUMENT.client_id;
  const expected = { token_endpoint_auth_method: "none", ...DOCUMENT, application_type: "native" };
  assert.deepEqual(await read(fine), expected);

  const inside = ["https://127.0.0.1/c.json", "https://169.254.169.254/c.json", "https://other.example/c.json"];
  for (const url of [...inside, "http://allowed.example/c.json", "file:///etc/passwd"])
    await assert.rejects(read(url), url);
  for (location of ["https://other.example/c.json", "https://127.0.0.1/", "http://allowed.example/"])
    await assert.rejects(read(fine));
  location = "";
  network.answers.set("allowed.example", ["127.0.0.1"]);
  await assert.rejects(read("https://allowed.example/rebound.json"));
  network.answers.set("allowed.example", [PUBLIC]);
  isAdmitted = false;
  await assert.rejects(read(fine));
  isAdmitted = true;
  const pad = (length: number): string => JSON.stringify({ ...DOCUMENT, note: "x".repeat(length) });
  const room = MAX_DOCUMENT_BYTES - pad(0).length;
  body = pad(room + 1);
  await assert.rejects(read(fine), { code: "LIMIT_SIZE" });
  body = pad(room);
  assert.deepEqual(await read(fine), expected);
  assert.deepEqual(new Set(network.connections), new Set([`${PUBLIC}:443`]));
  assert.ok(seen.every((one) => one === "allowed.example/c.json"));
});

test("of a description only what is used is kept, without hidden characters", () => {
  const name = `Editor\u202e\u0000 ${"x".repeat(500)}`;
  const kept = normalizeClient({ ...DOCUMENT, client_name: name, jwks_uri: "https://other.example", scope: "admin" });
  const known = ["application_type", "client_id", "client_name", "redirect_uris", "token_endpoint_auth_method"];
  assert.deepEqual(Object.keys(kept).toSorted(), known);
  assert.match(String(kept["client_name"]), /^Editor[^\u202e\0]{1,120}$/);
  for (const redirect_uris of [
    undefined,
    [],
    [1],
    "https://a.example",
    ["https://a@b.example"],
    ["https://a.example/\n"],
  ])
    assert.throws(() => normalizeClient({ redirect_uris }), TypeError);
});

test("a redirect opens an application unless its scheme belongs to the browser, the system or a protocol", () => {
  const isApplication = (text: string): boolean => isApplicationUrl(new URL(text));
  for (const text of ["cursor://anysphere.cursor-mcp/callback", "vscode-insiders://x", "com.example.app:/callback"])
    assert.equal(isApplication(text), true, text);
  for (const text of [
    "https://a.example/",
    "ws://a.example/",
    "javascript://a.example/%0aalert(1)",
    "view-source://a",
    "chrome-extension://a/",
    "ms-settings://a",
    "smb://a.example/share",
    "intent://a",
    "mailto:ada@a.example",
    "urn:ietf:wg:oauth:2.0:oob",
    "cursor:callback",
    "cursor:/callback",
  ])
    assert.equal(isApplication(text), false, text);
});
