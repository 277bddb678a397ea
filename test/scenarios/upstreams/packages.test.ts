/** Servers with npx: installed once beside the store, run confined at the accepted version, and updated by a person. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { examineMachine } from "../../../src/connectors/confinement/machine.ts";
import { openRegistry } from "../../fixtures/package-registry.ts";
import { makeUntypedFolder, parseJsonLines, probe, runGlovebox } from "../../fixtures/product.ts";

const { namespaces } = await examineMachine();
const skip = "missing" in namespaces ? namespaces.missing : false;
const PROBE = readFileSync("test/fixtures/servers/probe-server.mjs", "utf8");

test(
  "a server with npx runs its accepted package, and another version waits for a person",
  { skip },
  async (context) => {
    await using registry = await openRegistry();
    const publish = (version: string, text: string): void =>
      registry.publish({ name: "@up/probe", version, files: { "probe.mjs": text }, manifest: { bin: "probe.mjs" } });
    publish("1.0.0", PROBE);
    const cache = join(makeUntypedFolder(context, {}), "cache");
    const env = { npm_config_registry: registry.url, npm_config_cache: cache };
    const packaged = (name: string) => ({ command: "npx", args: ["-y", name], confine: "strict", env });
    const mcpServers = { packaged: packaged("@up/probe"), gone: packaged("no-such-package"), plain: probe() };
    const folder = makeUntypedFolder(context, { mcpServers });

    const first = await runGlovebox(["servers"], { folder });
    assert.match(first.stdout, /^packaged: ready, 7 tools, stdio, MCP 2025-11-25, confine strict$/m);
    assert.match(
      first.stdout,
      /^ {2}cause: its package no-such-package is not installed and cannot be fetched \(E404\)$/m,
    );
    assert.match(first.stdout, /^ {2}hint: .*then run glovebox servers update gone$/m);
    assert.match(first.stdout, /^plain: ready/m);

    publish("1.1.0", PROBE.replace("description:", 'title: "Renamed", description:'));
    const shown = await runGlovebox(["servers", "update", "packaged"], { folder });
    assert.equal(shown.code, 2, shown.stderr);
    assert.match(
      shown.stdout,
      /^packaged: @up\/probe 1\.0\.0 → 1\.1\.0\n {2}integrity: sha512-\S+ → sha512-\S+\n {2}tool: \w+, changed\n {4}title: \(none\) → "Renamed"$/m,
    );
    assert.match(shown.stderr, /nothing accepted/);

    const accepted = await runGlovebox(["servers", "update", "packaged", "--yes", "--json"], { folder });
    assert.equal(accepted.code, 0, accepted.stderr);
    const second = await runGlovebox(["servers"], { folder });
    assert.match(second.stdout, /^packaged: ready, 0 tools/m);
    assert.match(second.stdout, /^ {2}withheld: \w+, changed$/m);

    const { stdout: lines } = await runGlovebox(["audit", "export"], { folder });
    const entries = parseJsonLines(lines).filter(({ action }) => String(action).startsWith("package."));
    const described = entries.map(({ actor, action, detail }) => [
      actor,
      action,
      (detail as { version: string }).version,
    ]);
    assert.deepEqual(described, [
      ["gateway", "package.pinned", "1.0.0"],
      [entries.at(-1)?.["actor"], "package.approved", "1.1.0"],
    ]);
  },
);
