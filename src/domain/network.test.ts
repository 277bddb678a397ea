/** The canonical host and port of a URL. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { toPlace } from "./index.ts";

test("toPlace returns the default port, and a host without brackets or trailing dot", () => {
  assert.deepEqual(toPlace(new URL("https://A.example./x")), { host: "a.example", port: 443 });
  assert.deepEqual(toPlace(new URL("http://[::1]:8080/")), { host: "::1", port: 8080 });
});
