/** The entry that a person adds to the file of a client by hand. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { CLIENTS } from "./clients.ts";
import { describeEntries } from "./describe-entries.ts";

test("every client has an entry in the format of its file, with the command that starts Glovebox", () => {
  const entries = describeEntries({ command: "/usr/bin/node", args: ["/opt/glovebox.js", "mcp"] });
  assert.deepEqual(
    entries.map(({ id }) => id),
    CLIENTS.map(({ id }) => id),
  );
  for (const { id, entry, file } of entries) {
    for (const text of ["glovebox", "/usr/bin/node", "/opt/glovebox.js", "mcp"]) assert.ok(entry.includes(text), id);
    assert.match(file, /^(?:~|\$config|\$xdg)\//, id);
  }
  const find = (id: string): string => entries.find((one) => one.id === id)?.entry ?? "";
  assert.deepEqual(JSON.parse(find("vscode")), {
    servers: { glovebox: { type: "stdio", command: "/usr/bin/node", args: ["/opt/glovebox.js", "mcp"] } },
  });
  assert.match(find("codex"), /^\[mcp_servers\.glovebox\]$/m);
  assert.match(find("goose"), /^extensions:$/m);
});
