/** The files of the admin page: compressed where the browser takes it, and asked for again only when they change. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { readWebFiles } from "./web-files.ts";

test("a file is compressed on request, has a tag, and is kept for good if its name has its digest", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-files-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const text = "const x = 1;".repeat(100);
  for (const name of ["index.html", "main.js", "page-ABCD1234.js", "secret.txt"])
    writeFileSync(join(folder, name), text);
  const find = readWebFiles(folder);
  const plain = find("/main.js", new Headers());
  assert.equal(await plain?.text(), text);
  assert.equal(plain?.headers.get("cache-control"), "no-cache");
  const packed = find("/main.js", new Headers({ "accept-encoding": "br, gzip" }));
  assert.equal(packed?.headers.get("content-encoding"), "gzip");
  assert.equal(gunzipSync(Buffer.from((await packed?.arrayBuffer()) ?? [])).toString(), text);
  const etag = plain?.headers.get("etag") ?? "";
  assert.equal(find("/main.js", new Headers({ "if-none-match": etag }))?.status, 304);
  assert.equal(find("/main.js", new Headers({ "if-none-match": '"other"' }))?.status, 200);
  assert.match(find("/page-ABCD1234.js", new Headers())?.headers.get("cache-control") ?? "", /immutable/);
  assert.equal(find("/", new Headers())?.headers.get("content-type"), "text/html; charset=utf-8");
  for (const path of ["/secret.txt", "/index.html", "/../main.js"]) assert.equal(find(path, new Headers()), undefined);
});
