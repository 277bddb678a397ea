import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";

import { failAtStep } from "./fixtures/fail-at-step.ts";
import { HOMES, makeHome } from "./fixtures/homes.ts";
import { eject, init, toConfig } from "./fixtures/init-home.ts";

const FILES = { ...HOMES["kiro"], ...HOMES["codex"], ...HOMES["goose"] };
const MOST_STEPS = 200;

type Home = ReturnType<typeof makeHome>;

const read = ({ home }: Home): readonly string[] =>
  Object.keys(FILES).map((path) => readFileSync(join(home, path), "utf8"));
/** Every file of a client, and whatever lies beside it. */
const list = ({ home }: Home): readonly string[] =>
  Object.keys(FILES).flatMap((path) => readdirSync(dirname(join(home, path))));

/** Kills the work at each of its steps, in a home folder of its own, until it ends by itself. */
async function killAtEachStep(
  prepare: (home: Home) => Promise<void>,
  work: (home: Home) => unknown,
  check: (home: Home) => Promise<void>,
): Promise<number> {
  for (let step = 1; step <= MOST_STEPS; step += 1) {
    const home = makeHome(FILES);
    await prepare(home);
    const isKilled = await failAtStep(step, () => work(home));
    await check(home);
    if (!isKilled) return step - 1;
  }
  return assert.fail(`more than ${MOST_STEPS} steps`);
}

/** Restores every byte, and leaves nothing of the import, not even in the folders of the clients. */
function checkEject(home: Home): void {
  if (existsSync(join(home.stateFolder, "init", "changes.json"))) eject(home);
  assert.deepEqual(read(home), Object.values(FILES));
  assert.deepEqual(list(home), list(makeHome(FILES)));
  assert.equal(existsSync(toConfig(home)), false);
}

describe("init that is killed at any step", () => {
  it("leaves each file as before or as planned, and eject restores every byte", async () => {
    const done = makeHome(FILES);
    await init(done);
    const planned = read(done);
    const steps = await killAtEachStep(
      async () => undefined,
      init,
      async (home) => {
        for (const [index, text] of read(home).entries())
          assert.ok(text === Object.values(FILES)[index] || text === planned[index], text);
        checkEject(home);
      },
    );
    assert.ok(steps > 30, `${steps} steps`);
  });

  it("is completed by the next init", async () => {
    await killAtEachStep(
      async () => undefined,
      init,
      async (home) => {
        await init(home);
        assert.ok(read(home).every((text) => text.includes("/opt/glovebox/")));
        checkEject(home);
      },
    );
  });

  it("can be undone, too, when it was the second init", async () => {
    const added = HOMES["cursor"] ?? {};
    await killAtEachStep(
      async (home) => {
        await init(home);
        makeHome(added, home.home);
      },
      init,
      async (home) => {
        eject(home);
        for (const [path, text] of Object.entries(added))
          assert.equal(readFileSync(join(home.home, path), "utf8"), text);
        checkEject(home);
      },
    );
  });
});

describe("eject that is killed at any step", () => {
  it("is completed by the next eject", async () => {
    await killAtEachStep(
      async (home) => void (await init(home)),
      eject,
      async (home) => checkEject(home),
    );
  });

  it("keeps what a person changed meanwhile", async () => {
    const [path = "", text = ""] = Object.entries(HOMES["codex"] ?? {})[0] ?? [];
    await killAtEachStep(
      async (home) => {
        await init(home);
        writeFileSync(join(home.home, path), `${readFileSync(join(home.home, path), "utf8")}# by hand\n`);
      },
      eject,
      async (home) => {
        if (existsSync(join(home.stateFolder, "init", "changes.json"))) eject(home);
        const left = readFileSync(join(home.home, path), "utf8");
        assert.match(left, /^# by hand$/m);
        assert.doesNotMatch(left, /opt\/glovebox/);
        assert.equal(left.includes("[mcp_servers"), text.includes("[mcp_servers"));
      },
    );
  });
});
