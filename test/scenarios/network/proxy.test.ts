/** A proxy that requires a password, through the whole product: only the proxy receives the password. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { after, before, test } from "node:test";

import { findStore, makeUntypedFolder, runGlovebox } from "../../fixtures/product.ts";
import { readFiles } from "../../fixtures/read-files.ts";

const PASSWORD = "pr0xy/p4ss+word=2718281828";
const WRONG = "wr0ng/p4ss+word=3141592653";
const basic = (password: string): string => Buffer.from(`ada:${password}`).toString("base64");
/** A public address, as the proxy receives it. */
const FAR = "93.184.216.34:80";

const heard: unknown[] = [];
const server = createServer(({ headers }, response) => void response.end(JSON.stringify(headers)));
const proxy = createServer().on("connect", ({ headers }, socket) => {
  const given = headers["proxy-authorization"];
  heard.push(given);
  socket.on("error", () => undefined);
  // A proxy that repeats what it received.
  if (given !== `Basic ${basic(PASSWORD)}`) {
    const body = `${WRONG} ${basic(WRONG)}`;
    socket.end(`HTTP/1.1 407 ${WRONG}\r\nProxy-Authenticate: Basic realm="${WRONG}"\r\n\r\n${body}`);
    return;
  }
  const { port } = server.address() as AddressInfo;
  socket.write("HTTP/1.1 200 OK\r\n\r\n", () => socket.pipe(connect(port, "127.0.0.1")).pipe(socket));
});

before(async () => {
  for (const one of [server, proxy]) await new Promise<void>((ready) => one.listen(0, "127.0.0.1", ready));
});
after(() => {
  for (const one of [server, proxy]) one.close().closeAllConnections();
});

test("only the proxy receives its password, and a wrong one is a clear error without the password", async (context) => {
  const folder = makeUntypedFolder(context, {
    mcpServers: {},
    sandbox: { networkPolicy: { mode: "allowed", grants: [FAR] } },
    egress: {
      proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      proxyUser: "ada",
      proxyPassword: "${secret:PROXY_PASSWORD}",
    },
  });
  const set = (value: string) => runGlovebox(["secrets", "set", "PROXY_PASSWORD"], { folder, input: `${value}\n` });
  const ask = () => runGlovebox(["run", "-"], { folder, input: `return await (await fetch("http://${FAR}/")).json()` });

  const unset = await ask();
  assert.match(unset.stderr, /Cannot read the proxy password/);
  assert.deepEqual(heard, []);

  await set(WRONG);
  const refused = await ask();
  assert.match(refused.stderr, /UPSTREAM_UNREACHABLE/);
  assert.match(refused.stderr, /The proxy refused the user name and password \(407\)/);
  assert.match(refused.stderr, /egress\.proxyUser and egress\.proxyPassword/);

  await set(PASSWORD);
  const good = await ask();
  assert.equal(good.code, 0, good.stderr);
  assert.equal(JSON.parse(good.stdout).host, FAR.replace(":80", ""));
  assert.deepEqual(heard, [`Basic ${basic(WRONG)}`, `Basic ${basic(PASSWORD)}`]);

  const audit = await runGlovebox(["audit", "export"], { folder });
  assert.deepEqual(
    audit.stdout.split("\n").filter((line) => line.includes('"secret.lent"') && line.includes("proxy")).length,
    2,
  );
  const printed = [unset, refused, good, audit].map(({ stdout, stderr }) => stdout + stderr).join("\n");
  const store = dirname(findStore(folder));
  const kept = [...readFiles(store).values()].map((bytes) => bytes.toString("latin1"));
  for (const form of [PASSWORD, WRONG, basic(PASSWORD), basic(WRONG)]) {
    assert.ok(![printed, ...kept].some((text) => text.includes(form)), form);
  }
});
