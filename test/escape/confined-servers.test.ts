/** A malicious server gains nothing behind its confinement; the same server without it gains everything. */

import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
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
  readonly messages: number;
  readonly victim: string;
  readonly store: string;
  readonly profile: boolean;
  readonly stayed: boolean;
}

const machine = await examineMachine();
const why = "missing" in machine.namespaces ? `no namespaces: ${machine.namespaces.missing}` : false;
const noCompiler = spawnSync("gcc", ["--version"]).error ? "the native attacks need gcc" : false;
const noLandlock = "missing" in machine.landlock ? `no Landlock: ${machine.landlock.missing}` : false;

/** It may start processes. Whether they outlive it is in `stayed`. */
const gained = ({ found }: Outcome): readonly string[] =>
  Object.keys(found).filter((name) => name !== "stay" && found[name]?.startsWith("gained"));
/** It can listen at a port of its own network, where no other process can connect. */
const HARMLESS = { files: [], strict: ["listen"] };
/** Linux has this call since 6.6. */
const NEW_CALL = "changeModeByNewCall";

const UNTOUCHED = { visits: 0, messages: 0, victim: "alive", store: "private", profile: false } as const;

/** As the user of the test, or as another one with a copy that everybody can read. */
async function attack(
  user: "current" | "other",
  context: TestContext,
): Promise<Readonly<Record<"off" | "files" | "strict", Outcome>>> {
  const packed = pack(context, user);
  const folder = user === "current" ? ROOT : packed;
  const node = user === "current" ? process.execPath : join(packed, "node");
  const script = join(folder, FIXTURES, "run-malicious.ts");
  const server = join(packed, FIXTURES, "malicious-server/server.mjs");
  const command = [node, script, server, "off", "files", "strict"];
  const [file = "", ...args] = user === "current" ? command : ["setpriv", ...UNPRIVILEGED, ...command];
  const { stdout } = await promisify(execFile)(file, args, { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
  const { results } = JSON.parse(stdout) as { results: Record<"off" | "files" | "strict", Outcome> };
  return results;
}

/** The server with its native attacks; for another user everything else, too. */
function pack(context: TestContext, user: "current" | "other"): string {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-user-"));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  chmodSync(folder, 0o755);
  const server = `${FIXTURES}/malicious-server`;
  const others = ["package.json", "src", "dist/processes/native", `${FIXTURES}/run-malicious.ts`];
  const names = user === "current" ? [server] : [server, ...others];
  for (const name of names) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  if (user === "other") cpSync(process.execPath, join(folder, "node"));
  const attacks = join(folder, server, "attacks");
  execFileSync("gcc", ["-static", "-O1", "-o", attacks, `${attacks}.c`]);
  return folder;
}

const USERS = [
  ["current", false],
  ["other", process.getuid?.() === 0 ? false : "only root can become another user"],
] as const;

describe("a malicious server", { skip: why || noLandlock || noCompiler }, () => {
  for (const [user, skip] of USERS) {
    test(
      `as ${user === "current" ? "the user of the gateway" : "an ordinary user"}, gains nothing at strict, no file, socket or process at files, and everything at off`,
      { skip },
      async (context) => {
        const { off, files, strict } = await attack(user, context);
        const attempts = Object.keys(off.found).filter((name) => name !== "stay" && name !== NEW_CALL);
        assert.deepEqual(
          gained(off).filter((name) => name !== NEW_CALL),
          attempts,
        );
        assert.ok(attempts.length > 20, attempts.join());
        const { found: _, visits, ...harm } = off;
        const done = { messages: 1, victim: "ended", store: "privatestolen", profile: true, stayed: true };
        assert.deepEqual(harm, done);
        assert.equal(visits, 8);
        for (const [level, outcome] of Object.entries({ files, strict })) {
          const { found, stayed, ...rest } = outcome;
          const expected = [HARMLESS[level as keyof typeof HARMLESS], UNTOUCHED];
          assert.deepEqual([gained(outcome), rest], expected, JSON.stringify(found));
        }
        assert.equal(strict.stayed, false);
      },
    );
  }
});
