/** A corpus of server-side request forgery, each case against the real checks with a simulated internet behind. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { after, before, describe, test } from "node:test";

import type { Egress } from "./index.ts";
import { openEgress } from "./index.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork, openStubServers } from "./fixtures/stub-network.ts";
import type { StubNetwork } from "./fixtures/stub-network.ts";
import { tryFetch } from "./fixtures/try-fetch.ts";

interface Corpus {
  readonly urls: readonly { readonly id: string; readonly input: string; readonly expect: "block" | "allow" }[];
  readonly dns: readonly (readonly [id: string, what: string, why: string])[];
  readonly http: readonly (readonly [id: string, what: string, why: string])[];
}

const corpus = JSON.parse(readFileSync(new URL("fixtures/ssrf.json", import.meta.url), "utf8")) as Corpus;
const policies = [allow(["allowed.example", "*.wild.example", "bücher.example", "other.example"])];
const servers = openStubServers();
after(() => servers[Symbol.dispose]());

let network: StubNetwork;
let egress: Egress;
let heard: { host: string | undefined; authorization: string | undefined; url: string | undefined }[] = [];
let listener: RequestListener = (_, response) => void response.end("hello");

before(async () => {
  network = createStubNetwork();
  network.answers.set("*", [PUBLIC]);
  network.answers.set("other.example", [OTHER_PUBLIC]);
  const answer: RequestListener = (request, response) => {
    const { host, authorization } = request.headers;
    heard.push({ host, authorization, url: request.url });
    listener(request, response);
  };
  const ports = { 80: await servers.http(answer), 443: await servers.https(answer) };
  // Every address leads to a real server, including private ones: only a refusal keeps a request from arriving.
  for (const address of [PUBLIC, OTHER_PUBLIC, "127.0.0.1", "10.0.0.1", "0.0.0.0", "::ffff:a00:1"]) {
    for (const [port, real] of Object.entries(ports)) network.ports.set(`${address}:${port}`, real);
  }
  egress = openEgress({ network });
});
after(() => egress[Symbol.asyncDispose]());

const attempt = async (url: string, headers: readonly (readonly [string, string])[] = []): Promise<string> =>
  tryFetch({ egress, policies }, url, { headers });

function begin(answer: RequestListener = (_, response) => void response.end("hello")): void {
  listener = answer;
  heard = [];
  network.connections.splice(0);
  network.asked.splice(0);
}

describe("addresses of the SSRF corpus", () => {
  for (const { id, input, expect } of corpus.urls) {
    test(`${id} ${JSON.stringify(input)}: ${expect}`, async () => {
      begin();
      assert.equal(await attempt(input), expect === "allow" ? "200 hello" : "EGRESS_DENIED");
      assert.equal(heard.length, expect === "allow" ? 1 : 0);
      if (expect === "block") assert.deepEqual(network.connections, []);
    });
  }
});

const answers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  D01: [["127.0.0.1"]],
  D03: [[PUBLIC, "10.0.0.1"]],
  D05: [[PUBLIC, "::ffff:10.0.0.1"]],
  D07: [],
  D09: [[], ["10.0.0.1"]],
  D11: [["0.0.0.0"]],
  D13: [Array.from({ length: 1000 }, (_, index) => `93.184.${index >> 8}.${index & 255}`)],
};

describe("DNS answers of the SSRF corpus", () => {
  for (const [id, what] of corpus.dns) {
    test(`${id} ${what}: no connection is made`, async (context) => {
      begin();
      const left = [...(answers[id] ?? assert.fail(`no answer for ${id}`))];
      context.after(() => network.answers.delete("allowed.example"));
      network.answers.set("allowed.example", () => {
        const next = left.shift();
        if (next) return next;
        throw Object.assign(new Error("a loop of aliases"), { code: "ESERVFAIL" });
      });
      const unreachable = id === "D07" || id === "D09";
      assert.equal(await attempt("https://allowed.example/"), unreachable ? "UPSTREAM_UNREACHABLE" : "EGRESS_DENIED");
      assert.deepEqual([network.connections, network.asked.length], [[], 1]);
    });
  }
  test("a name with several public answers is connected to", async (context) => {
    begin();
    context.after(() => network.answers.delete("allowed.example"));
    network.answers.set("allowed.example", [PUBLIC, OTHER_PUBLIC]);
    assert.equal(await attempt("http://allowed.example/"), "200 hello");
  });
});

/** A server that redirects every request to one path, and answers there. */
const redirectTo =
  (location: string, status = 302): RequestListener =>
  (request, response) =>
    request.url === "/start" ? response.writeHead(status, { location }).end() : response.end("arrived");

const servings: Readonly<Record<string, () => Promise<void>>> = {
  H01: async () => {
    begin(redirectTo("http://127.0.0.1/"));
    assert.deepEqual([await attempt("http://allowed.example/start"), heard.length], ["EGRESS_DENIED", 1]);
    begin(redirectTo("http://other.example/"));
    assert.deepEqual([await attempt("http://allowed.example/start"), heard.length], ["200 arrived", 2]);
  },
  H03: async () => {
    const chain = (length: number): RequestListener => {
      let left = length;
      return (_, response) => (left-- > 0 ? response.writeHead(302, { location: "/next" }).end() : response.end("end"));
    };
    begin(chain(5));
    assert.equal(await attempt("http://allowed.example/"), "200 end");
    begin(chain(6));
    assert.equal(await attempt("http://allowed.example/"), "EGRESS_DENIED");
  },
  H05: async () => {
    begin(redirectTo("http://allowed.example/"));
    assert.deepEqual([await attempt("https://allowed.example/start"), heard.length], ["EGRESS_DENIED", 1]);
    begin(redirectTo("https://allowed.example/"));
    assert.deepEqual([await attempt("http://allowed.example/start"), heard.length], ["200 arrived", 2]);
  },
  H07: async () => {
    for (const [location, carried] of [
      ["https://other.example/", undefined] as const,
      ["/", "Bearer canary"] as const,
    ]) {
      begin(redirectTo(location));
      assert.equal(await attempt("https://allowed.example/start", [["Authorization", "Bearer canary"]]), "200 arrived");
      assert.deepEqual(
        heard.map(({ authorization }) => authorization),
        ["Bearer canary", carried],
      );
    }
  },
  H09: async () => {
    for (const location of ["\\\\127.0.0.1\\", "//127.0.0.1/", "/\\127.0.0.1/", "http:\\\\127.0.0.1"]) {
      begin(redirectTo(location));
      assert.deepEqual([await attempt("http://allowed.example/start"), heard.length], ["EGRESS_DENIED", 1]);
    }
  },
  H11: async () => {
    const text = '<meta http-equiv="refresh" content="0;url=http://other.example/">';
    begin((_, response) => response.writeHead(200, { refresh: "0;url=http://other.example/" }).end(text));
    assert.deepEqual([await attempt("http://allowed.example/"), heard.length], [`200 ${text}`, 1]);
  },
  H13: async () => {
    const proxies = { HTTP_PROXY: "http://127.0.0.1:1", HTTPS_PROXY: "http://127.0.0.1:1", NODE_USE_ENV_PROXY: "1" };
    const before = { ...process.env };
    try {
      Object.assign(process.env, proxies);
      begin();
      assert.equal(await attempt("http://allowed.example/"), "200 hello");
      await using fresh = openEgress({ network });
      assert.equal(await tryFetch({ egress: fresh, policies }, "https://allowed.example/"), "200 hello");
    } finally {
      for (const name of Object.keys(proxies)) delete process.env[name];
      Object.assign(process.env, before);
    }
  },
  H15: async () => {
    begin((_, response) => {
      const timer = setInterval(() => response.write("x"), 30);
      response.on("close", () => clearInterval(timer));
    });
    const slow = { egress, policies, limits: { totalMs: 300, idleMs: 200 } };
    assert.equal(await tryFetch(slow, "http://allowed.example/"), "UPSTREAM_TIMEOUT");
    begin((_, response) => void response.write("x"));
    assert.equal(await tryFetch({ ...slow, limits: { idleMs: 100 } }, "http://allowed.example/"), "UPSTREAM_TIMEOUT");
  },
  H17: async () => {
    begin();
    for (const host of ["a.wild.example", "b.wild.example", "a.wild.example"]) await attempt(`http://${host}/`);
    assert.deepEqual(
      heard.map(({ host }) => host),
      ["a.wild.example", "b.wild.example", "a.wild.example"],
    );
    assert.deepEqual(network.connections, [`${PUBLIC}:80`, `${PUBLIC}:80`]);
  },
  H19: async () => {
    begin();
    for (const name of ["Host", "host", "HOST"]) {
      assert.equal(await attempt("http://allowed.example/", [[name, "internal"]]), "EGRESS_DENIED");
    }
    assert.deepEqual(
      [await attempt("http://allowed.example/", [["X-Host", "x"]]), heard[0]?.host],
      ["200 hello", "allowed.example"],
    );
  },
};

describe("server behavior of the SSRF corpus", () => {
  for (const [id, what] of corpus.http) {
    test(`${id} ${what}`, servings[id] ?? (() => assert.fail(`no test for ${id}`)));
  }
});
