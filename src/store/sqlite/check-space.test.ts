/** The check of the free space, with a disk that the test fills. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError } from "../../domain/index.ts";

import { createSpaceCheck } from "./check-space.ts";

const LEAST = 1_000;

test("the store refuses below minFreeBytes, and accepts at it and above", async () => {
  let free = LEAST - 1;
  const folders: string[] = [];
  const check = createSpaceCheck({
    path: "/data/store/glovebox.db",
    minFreeBytes: LEAST,
    readFreeBytes: async (folder) => {
      folders.push(folder);
      return free;
    },
  });
  const refused: unknown = await check().catch((thrown: unknown) => thrown);
  assert.ok(refused instanceof GloveboxError);
  assert.deepEqual(
    [refused.code, refused.message],
    ["STORE_UNAVAILABLE", "The disk of the store has 999 bytes left, less than 1000 (store.minFreeBytes)"],
  );
  assert.match(refused.details.hint ?? "", /^Free some space/);
  for (free of [LEAST, LEAST + 1]) await check();
  assert.deepEqual(folders, Array(3).fill("/data/store"));
});

test("a store in memory, a minimum of 0 and a disk that cannot be asked refuse nothing", async () => {
  const never = (): never => assert.fail("the disk is not asked");
  await createSpaceCheck({ path: ":memory:", minFreeBytes: LEAST, readFreeBytes: never })();
  await createSpaceCheck({ path: "/data/glovebox.db", minFreeBytes: 0, readFreeBytes: never })();
  const readFreeBytes = (): Promise<number> => Promise.reject(new Error("no such folder"));
  await createSpaceCheck({ path: "/data/glovebox.db", minFreeBytes: LEAST, readFreeBytes })();
});

test("the free space of a real folder is a positive number of bytes", async () => {
  await createSpaceCheck({ path: `${import.meta.dirname}/x.db`, minFreeBytes: 1 })();
  const most = createSpaceCheck({ path: `${import.meta.dirname}/x.db`, minFreeBytes: Number.MAX_SAFE_INTEGER });
  await assert.rejects(most(), { code: "STORE_UNAVAILABLE" });
});
