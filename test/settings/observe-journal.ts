/** What the settings about journals, stored executions and the space for them change, for `test/settings/settings.test.ts`. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { isJsonObject } from "../../src/domain/index.ts";
import { answersBeforeFlush, openFlushedGateway } from "../durable/power/flushed-gateway.ts";
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

/** Whether an execution is still stored when another one has ended. */
const keepsExecution: Observation = async (config) => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-executions-"));
  const path = join(folder, "glovebox.db");
  const whole = { mcpServers: {}, store: { url: `sqlite:${path}` }, ...(isJsonObject(config) && config) };
  try {
    const { execution } = await withGlovebox(whole, async (glovebox) => {
      const first = await glovebox.execute({ code: "return 1" });
      await sleep(5);
      await glovebox.execute({ code: "return 2" });
      return first;
    });
    await using store = await openStore({ path, now: Date.now });
    return (await store.executions.findHead(execution)) !== undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** The outcome of a program on a store with a file. */
const runs: Observation = async (config) => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-space-"));
  const { store } = isJsonObject(config) ? config : {};
  const whole = { mcpServers: {}, store: { url: `sqlite:${join(folder, "glovebox.db")}`, ...Object(store) } };
  try {
    return await withGlovebox(whole, async (glovebox) => outcomeOf(await glovebox.execute({ code: "return 1" })));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Whether every program that only reads is answered after its end is on disk. */
const waitsForDisk: Observation = async (config) => {
  await using gateway = await openFlushedGateway({ store: Object(config).store });
  return !(await answersBeforeFlush(gateway));
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
  "executions.keepMs": compare(keepsExecution, [{ executions: { keepMs: 1 } }, false], [{}, true]),
  "executions.totalBytes": compare(keepsExecution, [{ executions: { totalBytes: 1 } }, false], [{}, true]),
  "store.durability": compare(waitsForDisk, [{ store: { durability: "always" } }, true], [{}, false]),
  "store.minFreeBytes": compare(runs, [{ store: { minFreeBytes: 2 ** 50 } }, "STORE_UNAVAILABLE"], [{}, 1]),
  "journal.keepMs": compare(keepsJournal, [{ journal: { keepMs: 0 } }, false], [{}, true]),
  "journal.totalBytes": compare(keepsJournal, [{ journal: { totalBytes: 1 } }, false], [{}, true]),
  "journal.executionBytes": compare(asks, [{ journal: { executionBytes: 1 } }, "LIMIT_TIME"], [{}, "paused"]),
};
