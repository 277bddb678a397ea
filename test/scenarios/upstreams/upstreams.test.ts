/** Upstreams seen from outside: resources as tools, a suspended server, and an operator who starts it again. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { EVERYTHING, makeFolder, probe, runGlovebox, serveFor } from "../../fixtures/product.ts";
import { until } from "../../fixtures/processes.ts";
import { openAdminSession } from "../../fixtures/admin-session.ts";

interface Status {
  readonly upstreams: readonly { readonly name: string; readonly state: string; readonly cause?: string }[];
}

test("a program lists and reads resources and prompts of an upstream like any tool", async (context) => {
  const folder = makeFolder(context, { mcpServers: { everything: EVERYTHING } });
  const code = `
    const { resources, templates } = await everything.resourcesList({});
    const { contents } = await everything.resourcesRead({ uri: resources[0].uri });
    const { prompts } = await everything.promptsList({});
    return [resources.length > 0, templates.length > 0, contents[0].uri === resources[0].uri, prompts.length > 0];
  `;
  const { stdout } = await runGlovebox(["run", "--json", "-"], { folder, input: code });
  const { value, calls } = JSON.parse(stdout) as { value: unknown; calls: { tool: string; effect: string }[] };
  assert.deepEqual(value, [true, true, true, true]);
  assert.deepEqual(calls[1], { ...calls[1], tool: "everything.resourcesRead", effect: "read" });
});

test("a server that crashes repeatedly is suspended in a running gateway, and servers restart starts it again", async (context) => {
  const flag = join(makeFolder(context), "mended");
  // Crashes until the file exists; then it is an ordinary server.
  const command = "/bin/sh";
  const { command: node, args } = probe();
  const flaky = { command, args: ["-c", 'test -e "$0" || exit 3; exec "$@"', flag, node, ...args] };
  const folder = makeFolder(context, { mcpServers: { flaky } });
  const { url, admin } = await serveFor(context, folder);
  const headers = await openAdminSession(admin);
  const look = async (path: string): Promise<unknown> => (await fetch(`${url}/api/${path}`, { headers })).json();
  const upstream = async (): Promise<Status["upstreams"][number] | undefined> =>
    ((await look("status")) as Status).upstreams[0];
  const state = { now: "" };
  const poll = setInterval(() => {
    // Every search makes the gateway try again, as a working agent would.
    void look("tools")
      .then(upstream)
      .then(
        (found) => (state.now = found?.state ?? ""),
        () => undefined,
      );
  }, 100);
  context.after(() => clearInterval(poll));
  await until(() => state.now === "suspended", 30_000);
  assert.match(
    (await upstream())?.cause ?? "",
    /^suspended after 5 crashes within 5 minutes \(the server exited with code 3, 5 times\)/,
  );
  writeFileSync(flag, "");
  const { code, stderr } = await runGlovebox(["servers", "restart", "flaky"], { folder });
  assert.deepEqual([code, stderr], [0, "Gateways that run on this configuration restart flaky within a few seconds\n"]);
  await until(() => state.now === "ready", 30_000);
  assert.equal((await upstream())?.cause, undefined);
  const unknown = await runGlovebox(["servers", "restart", "unknown"], { folder });
  assert.equal(unknown.code, 2);
});
