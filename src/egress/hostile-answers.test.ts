/** Answers that are ambiguous, invalid or endless. Each kind has a harmless twin that arrives. */

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

import { openEgress } from "./index.ts";
import type { Egress } from "./index.ts";
import { openRawServer, pourOut, sayHello } from "./fixtures/raw-server.ts";
import type { Answer, RawServer } from "./fixtures/raw-server.ts";
import { OTHER_PUBLIC, PUBLIC, allow, createStubNetwork } from "./fixtures/stub-network.ts";
import { tryFetch } from "./fixtures/try-fetch.ts";

const network = createStubNetwork();
const policies = [allow(["allowed.example", "other.example"])];
let server: RawServer;
let egress: Egress;

before(async () => {
  network.answers.set("allowed.example", [PUBLIC]).set("other.example", [OTHER_PUBLIC]);
  server = await openRawServer(network);
  egress = openEgress({ network });
});
beforeEach(() => void server.heard.splice(0));
after(async () => {
  await egress[Symbol.asyncDispose]();
  server[Symbol.dispose]();
});

/** No time limit applies here: what must end has to end by itself. */
const PATIENT = { totalMs: 50_000, idleMs: 50_000, maxBytes: 100_000 };

async function told(answer: Answer): Promise<string> {
  server.answer = answer;
  return await tryFetch({ egress, policies, limits: PATIENT }, "http://allowed.example/");
}
const says =
  (text: string, status = "200 OK"): Answer =>
  (socket) =>
    void socket.end(`HTTP/1.1 ${status}\r\n${text}`, "latin1");

const LOST = "UPSTREAM_UNREACHABLE";
const BAD = "UPSTREAM_RESULT_INVALID";

describe("the framing of an answer", () => {
  for (const [what, head, expected] of [
    ["one length", "Content-Length: 5\r\n\r\nhello", "200 hello"],
    ["chunks", "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "200 hello"],
    ["chunks with an extension", "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n", "200 hello"],
    ["chunks with a trailer", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", "200 hello"],
    ["neither, to its end", "\r\nhello", "200 hello"],
    ["a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nhello", LOST],
    ["two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", LOST],
    ["a list of lengths", "Content-Length: 5, 5\r\n\r\nhello", LOST],
    ["a signed length", "Content-Length: +5\r\n\r\nhello", LOST],
    ["a length beyond numbers", "Content-Length: 99999999999999999999999\r\n\r\nhello", LOST],
    ["a length too long", "Content-Length: 50\r\n\r\nhello", LOST],
    ["a chunk too short", "Transfer-Encoding: chunked\r\n\r\n50\r\nhello", LOST],
    ["no last chunk", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", LOST],
    ["a length in the trailer", "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\nhello", LOST],
    ["an unknown coding", "Transfer-Encoding: identity\r\n\r\nhello", BAD],
    ["a coding before chunks", "Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", BAD],
    ["a coding after chunks", "Transfer-Encoding: chunked, identity\r\n\r\n5\r\nhello\r\n0\r\n\r\n", BAD],
    ["chunks twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", BAD],
    ["a folded header", "X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello", LOST],
    ["a space before a colon", "Content-Length : 5\r\n\r\nhello", LOST],
    ["a NUL in a header", "X: a\0b\r\nContent-Length: 5\r\n\r\nhello", LOST],
  ] as const) {
    test(`an answer framed by ${what} is ${expected.startsWith("200") ? "read" : "refused"}`, async () => {
      assert.equal(await told(says(head)), expected);
    });
  }
});

describe("the head of an answer", () => {
  const body = "Content-Length: 5\r\n\r\nhello";
  test("an answer must have a status from 200 to 599", async () => {
    for (const status of ["200 OK", "299 x", "404 x", "599 x"]) {
      assert.equal(await told(says(body, status)), `${status.slice(0, 3)} hello`, status);
    }
    for (const status of ["000 x", "099 x", "600 x", "999 x"])
      assert.equal(await told(says(body, status)), BAD, status);
    for (const status of ["1000 x", "20 x", "-1 x", "2OO x"])
      assert.equal(await told(says(body, status)), LOST, status);
  });

  test("an answer may have up to a thousand headers, and all of them are seen", async () => {
    const headers = (count: number): string => Array.from({ length: count }, (_, index) => `X${index}: a\r\n`).join("");
    assert.equal(await told(says(headers(999) + body)), "200 hello");
    assert.equal(await told(says(headers(1000) + body)), BAD);
    assert.equal(await told(says(headers(5000) + body)), BAD);
  });

  test("an answer must not have several Location headers", async () => {
    const moved = (locations: string): Answer => {
      const head = `HTTP/1.1 302 Moved\r\n${locations}Content-Length: 0\r\n\r\n`;
      return (socket, asked) => (asked.startsWith("GET /there") ? sayHello(socket) : void socket.write(head));
    };
    assert.equal(await told(moved("Location: /there\r\n")), "200 hello");
    assert.equal(await told(moved("Location: /there\r\nLocation: http://other.example/there\r\n")), BAD);
    assert.equal(await told(moved("Location: /there\r\nLocation: /there\r\n")), BAD);
  });

  test("an answer may follow a few informational responses, not a flood of them", async () => {
    for (const hint of ["100 Continue", "103 Early Hints"]) {
      const after = (count: number): Answer => {
        const hints = `HTTP/1.1 ${hint}\r\n\r\n`.repeat(count);
        return (socket) => void socket.write(`${hints}HTTP/1.1 200 OK\r\n${body}`);
      };
      assert.equal(await told(after(16)), "200 hello", hint);
      assert.equal(await told(after(17)), LOST, hint);
      assert.equal(await told((socket) => pourOut(socket, `HTTP/1.1 ${hint}\r\n\r\n`.repeat(100))), LOST, hint);
    }
  });
});

describe("a compressed body", () => {
  const CODINGS = [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ] as const;
  const packed = (coding: string, bytes: Buffer, end: string = ""): Answer => {
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\n${end}\r\n`;
    return (socket) => void socket.end(Buffer.concat([Buffer.from(head), bytes]));
  };

  for (const [coding, pack] of CODINGS) {
    test(`a body compressed with ${coding} is decoded whole, or empty, or refused`, async () => {
      const text = "hello ".repeat(50);
      const bytes = pack(text);
      assert.equal(await told(packed(coding, bytes)), `200 ${text}`);
      assert.equal(await told(packed(coding, Buffer.alloc(0))), "200 ");
      assert.equal(await told(packed(coding, Buffer.alloc(0), "Content-Length: 0\r\n")), "200 ");
      for (const cut of [1, 4, Math.floor(bytes.length / 2), bytes.length - 1]) {
        assert.equal(await told(packed(coding, bytes.subarray(0, cut))), LOST, `${cut} of ${bytes.length} bytes`);
      }
    });
  }

  test("a body that decompresses to nothing without an end is ended", async () => {
    const nothing = Buffer.concat(Array<Buffer>(1000).fill(gzipSync("")));
    const endless: Answer = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
      pourOut(socket, nothing);
    };
    assert.equal(await told(endless), "LIMIT_SIZE");
    const few = Buffer.concat([gzipSync("hel"), gzipSync(""), gzipSync("lo")]);
    assert.equal(await told(packed("gzip", few)), "200 hello");
  });

  test("a body that is incompressible may be as large as the limit", async () => {
    const bytes = Buffer.from(Array.from({ length: PATIENT.maxBytes }, (_, index) => 32 + ((index * 7919) % 90)));
    for (const [coding, pack] of CODINGS) {
      const answer = await told(packed(coding, pack(bytes)));
      assert.equal(answer, `200 ${bytes.toString()}`, coding);
    }
  });
});

test("bytes after an answer are not taken for another answer", async () => {
  const second = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
  server.answer = (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello${second}`);
  const results: string[] = [];
  for (let times = 0; times < 5; times += 1) {
    results.push(await tryFetch({ egress, policies, limits: PATIENT }, "http://allowed.example/"));
  }
  assert.deepEqual(results, Array(5).fill("200 hello"));
});

test("endless headers and trailers end the request", async () => {
  const endless =
    (start: string, piece: string): Answer =>
    (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${start}`);
      pourOut(socket, piece);
    };
  assert.equal(await told(endless("", `X: ${"a".repeat(1000)}\r\n`)), LOST);
  const chunk = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n";
  assert.equal(await told(endless(chunk, `X: ${"a".repeat(1000)}\r\n`)), LOST);
  assert.equal(await told(endless("Transfer-Encoding: chunked\r\n\r\n1;", "a".repeat(1000))), LOST);
});
