import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSettings } from "../../../config/index.ts";
import { findPage } from "./find-page.ts";

test("a link leads to the page that runs, or to the one that the configuration describes", async () => {
  const find = (server: object, running?: string) =>
    findPage({ findPage: async () => running }, parseSettings({ server }, { folder: "/" }, {}));
  const publicUrl = "https://gloves.example.com";
  assert.equal(await find({}), "http://127.0.0.1:4747");
  assert.equal(await find({ publicUrl }), publicUrl);
  assert.equal(await find({ publicUrl, admin: { host: "::1", port: 5000 } }), "http://[::1]:5000");
  assert.equal(await find({ publicUrl }, "http://127.0.0.1:6000/"), "http://127.0.0.1:6000");
});
