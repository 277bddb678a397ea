/** Shown text hides nothing and reveals nothing about the host, and cleaning it takes linear time. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as fc from "fast-check";

import { cleanText } from "./clean-text.ts";
import { digestOf } from "./digest-of.ts";
import { createPathMask, redactPaths } from "./redact-paths.ts";

const clean = (text: string): string => cleanText(text, { maxBytes: 1_000_000 });
const FIVE_MB = 5_000_000;
/** The note about what was cut comes after the limit. */
const assertShort = (text: string): void => assert.ok(Buffer.byteLength(text) <= 1_100);

describe("cleanText", () => {
  test("leaves ordinary text alone, in any script", () => {
    for (const text of ["", "a\tb\nc", "Grüße, 世界, שלום, नमस्ते, 🧤", "[31m is only text", "x = a[0] ^ ~b"]) {
      assert.equal(clean(text), text);
    }
  });

  test("removes terminal escapes with their payload", () => {
    const cases = {
      "a\u001b[31;1mred\u001b[0mb": "aredb",
      "a\u001b[2J\u001b[?25l\u001b[ qb": "ab",
      "a\u009b31mb": "ab",
      "a\u001b]0;title\u0007b": "ab",
      "a\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\b": "alinkb",
      "a\u001b]52;c;ZXZpbA==\u009cb": "ab",
      "a\u009d0;title\u009cb": "ab",
      "a\u001bPq#0\u001b\\b\u001b_x\u001b\\c": "abc",
      "a\u001b]never ended": "anever ended",
      "a\u001bcb\u001b(Bc\u001b": "abc",
      "a\u001b\u200b[31mb": "a[31mb",
    };
    for (const [text, expected] of Object.entries(cases)) assert.equal(clean(text), expected, JSON.stringify(text));
  });

  test("removes control characters but keeps lines and tabs", () => {
    assert.equal(clean("a\u0000b\u0008c\rd\u007fe\u0085f\r\ng\th\u2028i\u2029j"), "abcdef\ng\th\ni\nj");
  });

  test("removes invisible characters", () => {
    const invisible = Array.from(
      "\u202a\u202e\u2066\u2069\u200e\u061c\u200b\u200d\u2060\ufeff\u00ad\u3164\ufe0f\u{e0041}\u{e0100}\ufff9",
    );
    assert.equal(clean(invisible.join("x")), "x".repeat(invisible.length - 1));
  });

  test("replaces lone surrogates before anything can join them", () => {
    assert.equal(clean("a\ud83d"), "a\ufffd");
    assert.equal(clean("\udb40\u200b\udc41"), "\ufffd\ufffd");
  });

  test("cuts just above the limit, not below or at it, and states how much is missing", () => {
    assert.equal(cleanText("abcd", { maxBytes: 5 }), "abcd");
    assert.equal(cleanText("abcde", { maxBytes: 5 }), "abcde");
    assert.equal(cleanText("abcdef", { maxBytes: 5 }), "abcde… [cut: 1 bytes more]");
    assert.equal(cleanText("a🧤b", { maxBytes: 4 }), "a… [cut: 5 bytes more]");
    assert.equal(cleanText("a🧤b", { maxBytes: 5 }), "a🧤… [cut: 1 bytes more]");
    assert.equal(cleanText("ab", { maxBytes: 0 }), "… [cut: 2 bytes more]");
    assert.equal(cleanText("\u001b[31ma", { maxBytes: 1 }), "a");
  });

  test("redacts paths only on request, and before it cuts", () => {
    const text = "see /home/ada/secret.txt";
    assert.equal(clean(text), text);
    assert.equal(cleanText(text, { maxBytes: 100, paths: redactPaths }), "see [path]");
    assert.equal(cleanText("/home/ada/secret.txt", { maxBytes: 5, paths: redactPaths }), "[path… [cut: 1 bytes more]");
    assert.equal(cleanText("/ho\u200bme/ada/x", { maxBytes: 100, paths: redactPaths }), "[path]");
  });

  test("cleanText is idempotent for any text", () => {
    const hostile = fc.string({
      unit: fc.oneof(
        fc.constantFrom(
          "\u001b",
          "[",
          "]",
          "\\",
          "P",
          "\u0007",
          "\u009b",
          "\u009c",
          "\u200b",
          "\r",
          "\n",
          "\ud800",
          "\udc00",
          "m",
        ),
        fc.string({ unit: "binary", maxLength: 1 }),
      ),
    });
    fc.assert(
      fc.property(hostile, (text) => assert.equal(clean(clean(text)), clean(text))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(hostile, (text) =>
        assert.doesNotMatch(clean(text), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b]|\p{Cs}/u),
      ),
    );
  });

  test("takes linear time on five hostile megabytes", () => {
    const units = [
      "\u001b]",
      "\u009d",
      "\u001b[0;",
      "\u001b[0 ",
      "\u001b",
      "\u200b",
      "\u0000x",
      "\ud800",
      "\u001bP\u001b",
      "'/home/",
      "\\\\a",
      "at :1",
      "/",
      "C:\\",
      "\n at ",
      "file:/",
    ];
    // A quadratic pattern would take hours.
    for (const unit of units) {
      assertShort(cleanText(unit.repeat(FIVE_MB / unit.length / 8), { maxBytes: 1_000, paths: redactPaths }));
    }
    assertShort(cleanText(`\u001b]${"x".repeat(FIVE_MB)}`, { maxBytes: 1_000, paths: redactPaths }));
    assertShort(cleanText(`'/home/${" x".repeat(FIVE_MB / 2)}`, { maxBytes: 1_000, paths: redactPaths }));
  });
});

describe("redactPaths", () => {
  test("removes absolute paths and file URLs", () => {
    const cases = {
      "ENOENT: open '/home/ada/my notes.txt'": "ENOENT: open '[path]'",
      "at=/srv/app/src/a.ts:3:5, then": "at=[path], then",
      "(/Users/ada/x.js) and //tmp/y": "([path]) and [path]",
      "C:\\Users\\ada\\x.txt is open": "[path] is open",
      'in "C:/Program Files/x"': 'in "[path]"',
      "on \\\\server\\share\\x": "on [path]",
      "import file:///home/ada/x.mjs failed": "import [path] failed",
      'File "/usr/lib/python3/os.py", line 3': 'File "[path]", line 3',
    };
    for (const [text, expected] of Object.entries(cases)) assert.equal(redactPaths(text), expected, text);
  });

  test("keeps URLs, routes, relative paths and other slashes", () => {
    const kept = [
      "https://example.com/home/page",
      "http://localhost:8080/var/x",
      "GET /repos/ada/notes/issues",
      "src/home/x.ts and ./usr/x",
      "and/or, 1/2, 12:30, a:b",
      "Meet at noon",
      "    at the office: 3",
    ];
    for (const text of kept) assert.equal(redactPaths(text), text);
  });

  test("drops the stack lines of V8 and keeps the message", () => {
    const stack = [
      "TypeError: x is not a function",
      "    at run (/srv/app/src/a.ts:3:5)",
      "    at async Promise.all (index 0)",
      "    at Array.map (<anonymous>)",
      "    at node:internal/process/task_queues:103:5",
      "    at <anonymous>",
      "after",
    ];
    assert.equal(redactPaths(stack.join("\n")), "TypeError: x is not a function\nafter");
  });

  test("drops the stack lines of Python and Java and keeps the message and other indented lines", () => {
    const python = [
      "Error executing tool find:",
      "Traceback (most recent call last):",
      '  File "/srv/app/server.py", line 12, in run',
      "    raise ValueError(id)",
      "    ^^^^^^^^^^^^^^^^^^^^",
      "ValueError: bad id 7",
      "    indented",
    ];
    assert.equal(redactPaths(python.join("\n")), "Error executing tool find:\nValueError: bad id 7\n    indented");
    const java = "bad value\n\tat com.shop.Store.find(Store.java:10)\n\tat java.base/Thread.run(Native Method)\nend";
    assert.equal(redactPaths(java), "bad value\nend");
    assert.equal(redactPaths('  File "a.py" is missing\n    in it'), '  File "a.py" is missing\n    in it');
  });
});

describe("digestOf", () => {
  test("hashes a string as it is and a value independent of the order of its keys", () => {
    assert.equal(digestOf("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert.equal(digestOf({ a: 1, b: [{ c: 2, d: 3 }] }), digestOf({ b: [{ d: 3, c: 2 }], a: 1 }));
    assert.notEqual(digestOf({ a: 1 }), digestOf({ a: 2 }));
  });
});

test("cleanText masks secrets before it cuts, and also between invisible characters", () => {
  const hide = (text: string): string => text.replaceAll("s3cret", "[secret]");
  assert.equal(cleanText("a s3\u200bcr\u001b[0met z", { maxBytes: 100, hide }), "a [secret] z");
  assert.equal(cleanText("xx s3cret", { maxBytes: 5, hide }), "xx [s… [cut: 6 bytes more]");
  assert.equal(cleanText("xx s3cre", { maxBytes: 100, hide }), "xx s3cre");
});

describe("createPathMask", () => {
  const paths = ["/home/ada/.local/state/glovebox", "/opt/glovebox/dist", "/srv/team/glovebox.db"];
  const mask = createPathMask({ paths, home: "/home/ada" });
  test("keeps the paths of an error, which repair the call", () => {
    for (const text of [
      "ENOENT: no such file or directory, open '/notes/my file.txt'",
      "Access denied - path outside allowed directories: /etc/passwd not in /srv/team",
      "/opt/glovebox/distant/a and /srv/team/glovebox.dbx and /data/opt/glovebox/dist/a",
      "C:\\Users\\ada\\x.txt is open",
    ]) {
      assert.equal(mask.own(text), text);
    }
  });
  test("masks the paths of the gateway itself, and removes stack lines", () => {
    const cases = {
      "cannot open /home/ada/.local/state/glovebox/x-1/glovebox.db now": "cannot open [path] now",
      "in /home/ada/.local/state/glovebox": "in [path]",
      "import file:///opt/glovebox/dist/main.js failed": "import [path] failed",
      "/srv/team/glovebox.db-wal is locked": "[path] is locked",
      "Error: no\n    at open (/srv/team/x.js:3:5)\nend": "Error: no\nend",
    };
    for (const [text, expected] of Object.entries(cases)) assert.equal(mask.own(text), expected);
  });
  test("writes the home folder as ~ unless the program wrote it", () => {
    const text = "open '/home/ada/notes/a.txt' in /home/ada, not /home/adam or /data/home/ada";
    assert.equal(mask.home(text, ""), "open '~/notes/a.txt' in ~, not /home/adam or /data/home/ada");
    assert.equal(mask.home(text, '{"path":"/home/ada/notes/b.txt"}'), text);
  });
  test("masks nothing for a home folder that is the root, and without paths", () => {
    const plain = createPathMask({ paths: [], home: "/" });
    assert.equal(plain.home(plain.own("open /a/b"), ""), "open /a/b");
  });
  test("takes time linear in the text", () => {
    const text = "/home/ada/.local/state/glovebo ".repeat(20_000);
    assert.equal(mask.own(text), text);
  });
});
