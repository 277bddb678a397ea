/** Learned types are shown to every session, so they must not contain what a labeled session has read. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { withGlovebox } from "../fixtures/observe-settings.ts";
import { makeFolder } from "../fixtures/product.ts";

/** A tool without labels returns what it is given; the field is named by what was read. */
const ECHO = "await probe.echo({ plain: 1, ['secret_' + Object.keys(about)[0]]: 1 });";

for (const [label, learned] of [
  ["private", []],
  ["untrusted", []],
  ["external", ["secret_argv"]],
] as const)
  test(`a type learned after reading ${label} data has ${learned.length} of its words`, async (context) => {
    const url = `sqlite:${join(makeFolder(context), "learned.db")}`;
    const config = { store: { url }, policy: { labels: [{ tools: ["probe.about"], add: [label] }] } };
    await withGlovebox(config, async (glovebox) => {
      const one = await glovebox.execute({ code: `const about = await probe.about({}); ${ECHO}`, session: "one" });
      assert.equal(one.state, "completed", JSON.stringify(one.error));
      // A later program of the session writes what the model has read as a literal.
      await glovebox.execute({ code: `const about = { argv: 1 }; ${ECHO}`, session: "one" });
      await glovebox.execute({ code: "await probe.echo({ plain: 1 })", session: "another" });
    });
    const shown = await withGlovebox(config, (glovebox) => glovebox.describe({ names: ["probe.echo"] }));
    assert.match(shown, /plain\??: number/);
    assert.deepEqual(shown.match(/secret_\w+/g) ?? [], learned);
  });
