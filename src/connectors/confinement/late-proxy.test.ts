/** A program in Node whose proxy support is loaded late uses the proxy with every client, also for its first request. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { LATE_PROXY, knowsLateProxy, toProxyVariables } from "./late-proxy.ts";

const UNDICI = fileURLToPath(import.meta.resolve("undici"));
/** Each program sends one request, which fails without the proxy: no resolver knows the name. */
const CLIENTS: Readonly<Record<string, string>> = {
  fetch: `await fetch("https://fetch.invalid")`,
  "fetch-after-headers": `new Headers(); await fetch("https://fetch-after-headers.invalid")`,
  "http-import": `import { get } from "node:http"; get("http://http-import.invalid").on("error", () => {})`,
  "https-require": `process.getBuiltinModule("module").createRequire("/")("https").get("https://https-require.invalid").on("error", () => {})`,
  websocket: `new WebSocket("wss://websocket.invalid").onerror = () => {}`,
  undici: `import { request } from ${JSON.stringify(UNDICI)}; await request("https://undici.invalid")`,
};

describe(
  "the proxy support that Node loads late",
  { skip: (await knowsLateProxy(process.execPath)) ? false : "this Node is too old" },
  () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end();
    });
    proxy.on("connect", ({ url = "" }, socket) => {
      asked.push(url);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    before(() => new Promise<void>((ready) => proxy.listen(0, "127.0.0.1", ready)));
    after(() => proxy.close());

    const run = async (code: string, lateProxy: string | undefined, more: Record<string, string> = {}) => {
      const address = proxy.address();
      const port = typeof address === "object" && address ? address.port : 0;
      const options = { proxy: `http://127.0.0.1:${port}`, unproxied: "localhost", env: more };
      const { NODE_USE_ENV_PROXY: _, ...env } = toProxyVariables({ ...options, ...(lateProxy ? { lateProxy } : {}) });
      const args = ["--input-type=module", "--eval", `process.on("uncaughtException", () => {}); ${code}`];
      const result = promisify(execFile)(process.execPath, args, { env });
      return result.catch((error: { stdout: string }) => error);
    };

    for (const [name, code] of Object.entries(CLIENTS)) {
      test(`the first request with ${name} goes to the proxy, and without the support it does not`, async () => {
        const seen = (): boolean => asked.some((url) => url.includes(`${name}.invalid`));
        await run(code, undefined);
        assert.equal(seen(), false);
        await run(code, LATE_PROXY);
        assert.equal(seen(), true, asked.join());
      });
    }

    test("the options that the configuration sets for Node apply beside the support", async () => {
      const { stdout } = await run("console.log(process.title)", LATE_PROXY, { NODE_OPTIONS: "--title=mine" });
      assert.equal(stdout.trim(), "mine");
    });

    test("a program that is not Node is not asked for its version", async () => {
      assert.equal(await knowsLateProxy("/bin/sh"), false);
    });
  },
);
