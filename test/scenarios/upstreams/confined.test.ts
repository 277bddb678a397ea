/** Confined servers in the product: their network is the proxy of the gateway, and the ledger has each request. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { describe, test } from "node:test";

import { examineMachine } from "../../../src/connectors/confinement/machine.ts";
import { makeUntypedFolder, parseJsonLines, probe, runGlovebox } from "../../fixtures/product.ts";

const { namespaces, landlock } = await examineMachine();
const why = "missing" in namespaces ? namespaces.missing : "missing" in landlock ? landlock.missing : false;
const FETCHING = { command: process.execPath, args: [resolve("test/fixtures/servers/fetching-server.mjs")] };
const LOOPBACK = resolve("test/fixtures/tls/loopback");

describe("a confined server", { skip: why }, () => {
  test("reaches a granted host through the proxy and no other, and the ledger has each request", async (context) => {
    const web = createServer((_, response) => response.end("welcome"));
    web.listen(0, "127.0.0.2"); // not an address of the server's own network
    await once(web, "listening");
    context.after(() => web.close());
    const { port } = web.address() as AddressInfo;
    const networkPolicy = { mode: "allowed", grants: [`127.0.0.2:${port}`] };
    const servers = {
      strict: { ...FETCHING, confine: "strict", networkPolicy },
      files: { ...FETCHING, confine: "files", networkPolicy },
      closed: { ...FETCHING, confine: "strict" },
    };
    const folder = makeUntypedFolder(context, { mcpServers: { ...servers, plain: probe() } });
    const code = `const seen = {};
      for (const [name, server] of Object.entries({ strict, files, closed }))
        seen[name] = [await server.get({ url: "http://127.0.0.2:${port}/" }), await server.get({ url: "http://127.0.0.2:2/" })]
          .map((answer) => String(answer).slice(0, 11));
      return seen;`;
    const { code: exit, stdout, stderr } = await runGlovebox(["run", "-"], { folder, input: code });
    assert.equal(exit, 0, stderr);
    const seen = JSON.parse(stdout) as Record<string, readonly string[]>;
    for (const name of ["strict", "files"]) assert.equal(seen[name]?.[0], "200 welcome", stdout);
    assert.notEqual(seen["closed"]?.[0], "200 welcome");
    const { stdout: lines } = await runGlovebox(["audit", "export"], { folder });
    const requests = parseJsonLines(lines)
      .filter(({ action }) => String(action).startsWith("upstream.request"))
      .map(({ action, subject, detail }) => [subject, action, (detail as { port: number }).port]);
    const expected = ["strict", "files"].flatMap((name) => [
      [name, "upstream.request", port],
      [name, "upstream.request.refused", 2],
    ]);
    const closed = [port, 2].map((to) => ["closed", "upstream.request.refused", to]);
    assert.deepEqual(requests, [...expected, ...closed]);
    // Another gateway was refused; this one only lists its servers.
    const { stdout: list } = await runGlovebox(["servers"], { folder });
    const shown = [...list.matchAll(/refused: (\S+); to allow it, add it to mcpServers\.(\w+)\./g)];
    assert.deepEqual(
      shown.map(([, host, name]) => [name, host]),
      [
        ["strict", "127.0.0.2:2"],
        ["files", "127.0.0.2:2"],
        ["closed", "127.0.0.2:2"],
        ["closed", `127.0.0.2:${port}`],
      ],
    );
  });

  test("speaks https with a granted host, whose certificate it checks itself", async (context) => {
    const certificate = `${LOOPBACK}.cert`;
    const web = createSecureServer(
      { key: readFileSync(`${LOOPBACK}.key`), cert: readFileSync(certificate) },
      (_, response) => response.end("secret page"),
    );
    web.listen(0, "127.0.0.2");
    await once(web, "listening");
    context.after(() => web.close());
    const { port } = web.address() as AddressInfo;
    const networkPolicy = { mode: "allowed", grants: [`127.0.0.2:${port}`] };
    const trusting = { ...FETCHING, env: { NODE_EXTRA_CA_CERTS: certificate }, files: { read: [certificate] } };
    const mcpServers = {
      strict: { ...trusting, confine: "strict", networkPolicy },
      files: { ...trusting, confine: "files", networkPolicy },
      doubting: { ...FETCHING, confine: "strict", networkPolicy },
      closed: { ...trusting, confine: "strict" },
    };
    const folder = makeUntypedFolder(context, { mcpServers });
    const input = `return Promise.all([strict, files, doubting, closed].map((one) => one.get({ url: "https://127.0.0.2:${port}/" })))`;
    const { stdout, stderr } = await runGlovebox(["run", "-"], { folder, input });
    const [strict, files, doubting, closed] = JSON.parse(stdout || "[]") as readonly string[];
    assert.deepEqual([strict, files], ["200 secret page", "200 secret page"], stderr);
    assert.match(doubting ?? "", /^failed .*(?:SELF_SIGNED|UNABLE_TO_VERIFY)/);
    assert.match(closed ?? "", /^failed /);
  });

  test("is listed with its level, and one that lacks a file with the grant", async (context) => {
    const lacking = {
      command: "/bin/sh",
      args: ["-c", "cat /root/secret 1>&2; echo \"ENOENT: no such file, open '/srv/secret'\" 1>&2; exit 1"],
    };
    const folder = makeUntypedFolder(context, {
      mcpServers: {
        plain: probe(),
        strict: { ...probe(), confine: "strict" },
        lacking: { ...lacking, confine: "strict" },
      },
    });
    const { code, stdout } = await runGlovebox(["servers"], { folder });
    assert.equal(code, 1);
    assert.match(stdout, /^plain: ready, 7 tools, stdio, MCP 2025-11-25, confine off$/m);
    assert.match(stdout, /^strict: ready, 7 tools, stdio, MCP 2025-11-25, confine strict$/m);
    assert.match(
      stdout,
      /^ {2}missing: \/srv\/secret; to allow it, add it to mcpServers\.lacking\.files\.read or files\.write$/m,
    );
  });
});
