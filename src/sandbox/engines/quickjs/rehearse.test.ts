/** The program before the first one: it must end, and it must leave nothing behind. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { loadQuickjsImage } from "../../fixtures/quickjs-image.ts";
import { findDifference } from "./image.ts";
import type { QuickjsInstance } from "./load-quickjs.ts";
import { createQuickjsRealms } from "./quickjs-realm.ts";
import { rehearse } from "./rehearse.ts";

const { image, createInstance } = loadQuickjsImage();

test("the rehearsal leaves the memory of the image, and the next program gets its instance", async () => {
  const made: QuickjsInstance[] = [];
  const createRealm = createQuickjsRealms(image, () => {
    const instance = createInstance();
    made.push(instance);
    return instance;
  });
  await rehearse(createRealm);
  await rehearse(createRealm);
  assert.deepEqual(
    made.map((instance) => findDifference(instance, image)),
    [undefined],
  );
});

test("an engine that does not end the rehearsal is refused", async () => {
  const createRealm = createQuickjsRealms(image, createInstance);
  const deaf: typeof createRealm = (memoryBytes) => createRealm(memoryBytes, () => undefined);
  await assert.rejects(rehearse(deaf), /The rehearsal sent the frames/);
});
