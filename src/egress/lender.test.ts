/** Secrets that are filled into a request: again for each step, never before it is admitted, never kept. */

import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, test } from "node:test";

import { GloveboxError } from "../domain/index.ts";
import type { StepLender } from "./follow.ts";
import { openEgress } from "./index.ts";
import type { Egress } from "./index.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork, openStubServers } from "./fixtures/stub-network.ts";
import { tryFetch } from "./fixtures/try-fetch.ts";

const servers = openStubServers();
const network = createStubNetwork();
const policies = [allow(["allowed.example", "other.example"])];
let egress: Egress;
let heard: unknown[];

const answer: RequestListener = async (request, response) => {
  const { host = "", "x-key": key, accept } = request.headers;
  heard.push([host, request.url, key, accept, await text(request)]);
  const to = new URL(request.url ?? "", `http://${host}`).searchParams.get("to");
  if (to === null) response.end("done");
  else response.writeHead(request.url?.startsWith("/keep") ? 307 : 302, { location: to }).end();
};

before(async () => {
  network.answers.set("*", [PUBLIC]);
  network.answers.set("other.example", [OTHER_PUBLIC]);
  const http = await servers.http(answer);
  for (const address of [PUBLIC, OTHER_PUBLIC]) network.ports.set(`${address}:80`, http);
  egress = openEgress({ network });
});
beforeEach(() => {
  heard = [];
});
after(async () => {
  await egress[Symbol.asyncDispose]();
  servers[Symbol.dispose]();
});

/** Fills `TOKEN` for one host, and records its calls. */
function lenderFor(host: string): { readonly lender: StepLender; readonly asked: string[] } {
  const asked: string[] = [];
  const fillIn = (value: string, url: URL): string => (url.hostname === host ? value.replace("TOKEN", "VALUE") : value);
  const lender: StepLender = {
    check: async ({ url }) => {
      asked.push(`check ${url.href}`);
      if (url.href.includes("VALUE")) throw new GloveboxError("EGRESS_DENIED", "It would carry it away");
    },
    fill: async ({ url, headers, body }) => {
      asked.push(`fill ${url.href}`);
      const filled = [...headers].map(([key, value]): [string, string] => [key, fillIn(value, url)]);
      const content = body && Buffer.from(fillIn(Buffer.from(body).toString(), url));
      return { url, headers: new Headers(filled), body: content };
    },
  };
  return { lender, asked };
}
const KEYS: [string, string][] = [
  ["x-key", "TOKEN"],
  ["accept", "TOKEN"],
];

test("a redirect within the host is filled again, from what the program wrote", async () => {
  const { lender, asked } = lenderFor("allowed.example");
  const init = { lender, method: "POST", body: Buffer.from("a TOKEN"), headers: KEYS };
  assert.equal(await tryFetch({ egress, policies }, "http://allowed.example/keep?to=/two", init), "200 done");
  const seen = ["VALUE", "VALUE", "a VALUE"];
  assert.deepEqual(heard, [
    ["allowed.example", "/keep?to=/two", ...seen],
    ["allowed.example", "/two", ...seen],
  ]);
  assert.deepEqual(asked, [
    "check http://allowed.example/keep?to=/two",
    "fill http://allowed.example/keep?to=/two",
    "check http://allowed.example/two",
    "fill http://allowed.example/two",
  ]);
});

test("a redirect to another host carries nothing that was filled in, even in a header that is sent along", async () => {
  const { lender } = lenderFor("allowed.example");
  const url = "http://allowed.example/?to=http://other.example/two";
  assert.equal(await tryFetch({ egress, policies }, url, { lender, headers: KEYS }), "200 done");
  assert.deepEqual(heard, [
    ["allowed.example", "/?to=http://other.example/two", "VALUE", "VALUE", ""],
    ["other.example", "/two", undefined, "TOKEN", ""],
  ]);
});

test("a host that is not allowed is checked and never filled, and one that fails the check is not even resolved", async () => {
  const { lender, asked } = lenderFor("strange.example");
  assert.equal(await tryFetch({ egress, policies }, "http://strange.example/", { lender }), "EGRESS_DENIED");
  assert.deepEqual([asked, heard], [["check http://strange.example/"], []]);
  const before = network.asked.length;
  const carried = "http://allowed.example/?to=http://other.example/V%41LUE";
  assert.equal(await tryFetch({ egress, policies }, carried, { lender: lenderFor("x").lender }), "EGRESS_DENIED");
  assert.deepEqual(network.asked.slice(before), ["allowed.example"]);
});
