/**
 * Secrets and the key change at the command line while gateways run; these keep running and restart affected upstreams.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import {
  LAUNCHER,
  findStore,
  makeUntypedFolder,
  probe,
  runGlovebox,
  startGlovebox,
  waitForOutput,
} from "../../fixtures/product.ts";
import type { Addresses } from "../../fixtures/product.ts";
import { commandOf, listDescendants } from "../../fixtures/processes.ts";
import { openAdminSession } from "../../fixtures/admin-session.ts";

const KEY = "8f1d3a5c7e90b2d4f6081a3c5e7092b4d6f80a1c3e507294b6d8fa1c3e5f7091";
const NEXT_KEY = KEY.replace("8f", "9f");
const CONFIG = {
  mcpServers: { holder: { ...probe(), env: { TOKEN: "${secret:TOKEN}" } }, other: probe("--says", "x") },
};

type Environment = Record<string, string>;

interface Running {
  /** Makes the gateway use its upstreams, as a working agent would; resolves once they are ready. */
  untilHolderHas(value: string | undefined): Promise<void>;
  /** The commands of all its processes that have this string in their environment. */
  findHolders(value: string): readonly string[];
  /** Ends the gateway, so that `glovebox run` opens the store itself. */
  end(): Promise<void>;
}

async function serve(context: TestContext, folder: string, environment: Environment = {}): Promise<Running> {
  const child = startGlovebox(["serve", "--json", "--port", "0"], folder, environment);
  context.after(() => child.kill("SIGKILL"));
  const { url, admin } = JSON.parse(await waitForOutput(child, /\}\n$/)) as Addresses;
  const headers = await openAdminSession(admin);
  const findHolders = (value: string): readonly string[] =>
    listDescendants(child.pid ?? 0)
      .filter((pid) => environmentOf(pid).includes(value))
      .map(commandOf)
      .filter((command) => !command.includes(LAUNCHER));
  return {
    findHolders,
    async end() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
    async untilHolderHas(value) {
      for (let left = 400; ; left -= 1) {
        assert.ok(left > 0, `The upstream has not been started with ${value}`);
        await fetch(`${url}/api/tools`, { headers }).then((response) => response.text());
        const found = findHolders(`TOKEN=${value ?? ""}`);
        if ((value === undefined) === (found.length === 0)) return;
        await wait(50);
      }
    },
  };
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return ""; // it has just ended
  }
}

async function set(folder: string, value: string, environment: Environment = {}): Promise<void> {
  const { code, stderr } = await runGlovebox(["secrets", "set", "TOKEN"], { folder, input: value, environment });
  assert.equal(code, 0, stderr);
}

test("a running gateway restarts an upstream when its secret is set or removed, and no other process gets the value", async (context) => {
  const folder = makeUntypedFolder(context, CONFIG);
  await set(folder, "value-1");
  const gateway = await serve(context, folder);
  await gateway.untilHolderHas("value-1");
  assert.deepEqual(gateway.findHolders("value-1"), [[probe().command, ...probe().args].join(" ")]);
  await set(folder, "value-2");
  await gateway.untilHolderHas("value-2");
  assert.deepEqual(gateway.findHolders("value-1"), []);
  const removed = await runGlovebox(["secrets", "remove", "TOKEN"], { folder });
  assert.equal(removed.code, 0);
  await gateway.untilHolderHas(undefined);
  await set(folder, "value-3");
  await gateway.untilHolderHas("value-3");
});

test("two gateways keep running after rotate-key, and a missing or readable key file is refused", async (context) => {
  const folder = makeUntypedFolder(context, CONFIG);
  await set(folder, "value-1");
  const gateways = await Promise.all([serve(context, folder), serve(context, folder)]);
  const keyFile = join(dirname(findStore(folder)), "glovebox.key");
  const before = readFileSync(keyFile, "utf8");
  const rotated = await runGlovebox(["secrets", "rotate-key"], { folder });
  assert.deepEqual(rotated, {
    code: 0,
    stdout: "",
    stderr: "The key was changed; 1 secrets are sealed with the new one\n",
  });
  assert.notEqual(readFileSync(keyFile, "utf8"), before);
  assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  const keys = readdirSync(dirname(keyFile)).filter((file) => file.startsWith("glovebox.key"));
  assert.deepEqual(keys, ["glovebox.key"]);
  await Promise.all(gateways.map((gateway) => gateway.untilHolderHas("value-1")));
  await set(folder, "value-2");
  await Promise.all(gateways.map((gateway) => gateway.untilHolderHas("value-2")));
  await Promise.all(gateways.map((gateway) => gateway.end()));
  chmodSync(keyFile, 0o644);
  const refused = await runGlovebox(["run", "-"], { folder, input: "return 1" });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /The key file glovebox\.key is accessible to other users: its mode is 0644/);
  chmodSync(keyFile, 0o600);
  const json = await runGlovebox(["secrets", "rotate-key", "--json"], { folder });
  assert.deepEqual(JSON.parse(json.stdout), { secrets: 1, damaged: [] });
});

test("a gateway with a key in its environment takes over a new key, and a start with the old one is refused", async (context) => {
  const folder = makeUntypedFolder(context, CONFIG);
  const [former, next] = [{ GLOVEBOX_ENCRYPTION_KEY: KEY }, { GLOVEBOX_ENCRYPTION_KEY: NEXT_KEY }];
  await set(folder, "value-1", former);
  const gateway = await serve(context, folder, former);
  const rotated = await runGlovebox(["secrets", "rotate-key"], { folder, input: `${NEXT_KEY}\n`, environment: former });
  assert.deepEqual(rotated, {
    code: 0,
    stdout: "",
    stderr:
      "The key was changed; 1 secrets are sealed with the new one\n" +
      "Set GLOVEBOX_ENCRYPTION_KEY to the new key before Glovebox starts again\n",
  });
  await set(folder, "value-2", next);
  await gateway.untilHolderHas("value-2");
  assert.deepEqual(gateway.findHolders(KEY), []);
  await gateway.end();
  const run = (environment: Environment) => runGlovebox(["run", "-"], { folder, input: "return 1", environment });
  const refused = await run(former);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /The secrets in this store are sealed with another key/);
  assert.equal((await run(next)).stdout, "1\n");
  assert.equal((await run({ ...former, GLOVEBOX_NEW_ENCRYPTION_KEY: NEXT_KEY })).stdout, "1\n");
  assert.equal(readdirSync(dirname(findStore(folder))).includes("glovebox.key"), false);
  const weak = await run({ GLOVEBOX_ENCRYPTION_KEY: "00".repeat(32) });
  assert.match(weak.stderr, /GLOVEBOX_ENCRYPTION_KEY is too weak/);
});
