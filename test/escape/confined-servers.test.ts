/** A malicious server gains nothing behind its confinement; the same server without it gains everything. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { examineMachine } from "../../src/connectors/confinement/machine.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const FIXTURES = "test/escape/fixtures";
const UNPRIVILEGED = ["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"];

interface Outcome {
  readonly found: Readonly<Record<string, string>>;
  readonly visits: number;
  readonly victim: string;
  readonly store: string;
  readonly profile: boolean;
  readonly stayed: boolean;
}

const machine = await examineMachine();
const why = "missing" in machine.namespaces ? `no namespaces: ${machine.namespaces.missing}` : false;
const noLandlock = "missing" in machine.landlock ? `no Landlock: ${machine.landlock.missing}` : false;

/** It may start processes. Whether they outlive it is in `stayed`. */
const gained = ({ found }: Outcome): readonly string[] =>
  Object.keys(found).filter((name) => name !== "stay" && found[name]?.startsWith("gained"));

const UNTOUCHED = { visits: 0, victim: "alive", store: "private", profile: false } as const;

/** As the user of the test, or as another one with a copy that everybody can read. */
async function attack(
  user: "current" | "other",
  context: TestContext,
): Promise<Readonly<Record<"off" | "files" | "strict", Outcome>>> {
  const folder = user === "current" ? ROOT : packFor(context);
  const node = user === "current" ? process.execPath : join(folder, "node");
  const script = join(folder, FIXTURES, "run-malicious.ts");
  const server = join(folder, FIXTURES, "malicious-server/server.mjs");
  const command = [node, script, server, "off", "files", "strict"];
  const [file = "", ...args] = user === "current" ? command : ["setpriv", ...UNPRIVILEGED, ...command];
  const { stdout } = await promisify(execFile)(file, args, { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
  const { results } = JSON.parse(stdout) as { results: Record<"off" | "files" | "strict", Outcome> };
  return results;
}

function packFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-user-"));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  chmodSync(folder, 0o755);
  const names = [
    "package.json",
    "src",
    "dist/processes/native",
    `${FIXTURES}/run-malicious.ts`,
    `${FIXTURES}/malicious-server`,
  ];
  for (const name of names) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  cpSync(process.execPath, join(folder, "node"));
  return folder;
}

const USERS = [
  ["current", false],
  ["other", process.getuid?.() === 0 ? false : "only root can become another user"],
] as const;

describe("a malicious server", { skip: why || noLandlock }, () => {
  for (const [user, skip] of USERS) {
    test(
      `as ${user === "current" ? "the user of the gateway" : "an ordinary user"}, gains nothing at strict, no file, socket or process at files, and everything at off`,
      { skip },
      async (context) => {
        const { off, files, strict } = await attack(user, context);
        assert.deepEqual(
          gained(off),
          Object.keys(off.found).filter((name) => name !== "stay"),
        );
        const { found: _, ...harm } = off;
        assert.deepEqual(harm, { visits: 5, victim: "ended", store: "privatestolen", profile: true, stayed: true });
        for (const outcome of [files, strict]) {
          const { found, stayed, ...rest } = outcome;
          assert.deepEqual([gained(outcome), rest], [[], UNTOUCHED], JSON.stringify(found));
        }
        assert.equal(strict.stayed, false);
      },
    );
  }
});
