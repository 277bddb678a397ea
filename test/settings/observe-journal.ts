/** What the settings about journals change, for `test/settings/settings.test.ts`. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isJsonObject } from "../../src/domain/index.ts";
import { openStore } from "../../src/store/index.ts";
import { compare, outcomeOf, withGlovebox } from "../fixtures/observe-settings.ts";
import type { Observation } from "../fixtures/observe-settings.ts";

/** Whether the journal of an execution is still there after the next start. */
const keepsJournal: Observation = async (config) => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-journal-"));
  const path = join(folder, "glovebox.db");
  const whole = { mcpServers: {}, store: { url: `sqlite:${path}` }, ...(isJsonObject(config) && config) };
  try {
    const { execution } = await withGlovebox(whole, (glovebox) => glovebox.execute({ code: "return 1" }));
    await withGlovebox(whole, async () => undefined);
    await using store = await openStore({ path, now: Date.now });
    return (await store.journals.read(execution)).length > 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** The outcome of a program that receives a delivery and then needs approval. */
const asks: Observation = (config) =>
  withGlovebox(
    { ...(isJsonObject(config) && config), policy: { rules: [{ decision: "ask", tools: ["probe.change"] }] } },
    async (glovebox) => {
      const code = "await probe.about({}); return await probe.change({})";
      return outcomeOf(await glovebox.execute({ code, limits: { wallMs: 4_000 } }));
    },
  );

export const JOURNAL_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "journal.keepMs": compare(keepsJournal, [{ journal: { keepMs: 0 } }, false], [{}, true]),
  "journal.totalBytes": compare(keepsJournal, [{ journal: { totalBytes: 1 } }, false], [{}, true]),
  "journal.executionBytes": compare(asks, [{ journal: { executionBytes: 1 } }, "LIMIT_TIME"], [{}, "paused"]),
};
