/** The canonical spelling of places in a network. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { toPlace } from "./index.ts";

test("the place of a URL has its usual port, no brackets and no dot at the end", () => {
  assert.deepEqual(toPlace(new URL("https://A.example./x")), { host: "a.example", port: 443 });
  assert.deepEqual(toPlace(new URL("http://[::1]:8080/")), { host: "::1", port: 8080 });
});
