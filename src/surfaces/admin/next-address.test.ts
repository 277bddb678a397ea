import assert from "node:assert/strict";
import { test } from "node:test";

import { toNextAddress } from "./next-address.ts";

const ORIGIN = "https://gateway.example";

test("a login leads to a path of this page", () => {
  const paths = ["/", "/approvals/ap_1?a=b#c", "/oauth/consent?uid=1&x=https%3A%2F%2Fevil.example", "/.//evil.example"];
  for (const path of paths) assert.equal(new URL(toNextAddress(path, ORIGIN)).origin, ORIGIN, path);
  assert.equal(toNextAddress("/approvals/ap_1?a=b#c", ORIGIN), `${ORIGIN}/approvals/ap_1?a=b#c`);
});

test("a login does not lead to another site or back to itself", () => {
  const others = [
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "https://evil.example/",
    "https:/evil.example",
    "javascript:alert(1)",
    "evil.example",
    "\\\\evil.example",
    " //evil.example",
    "/login?next=/login",
    "",
  ];
  for (const other of [...others, null]) assert.equal(toNextAddress(other, ORIGIN), `${ORIGIN}/`, String(other));
});
