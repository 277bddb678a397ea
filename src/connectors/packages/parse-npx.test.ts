import assert from "node:assert/strict";
import { test } from "node:test";

import { parseNpx } from "./parse-npx.ts";

test("npx names its package, its command and the arguments of the server", () => {
  const cases: readonly (readonly [string, object])[] = [
    ["-y notes-mcp /docs", { spec: "notes-mcp", name: "notes-mcp", bin: undefined, args: ["/docs"] }],
    ["--yes @a/notes@1.2.3 -y", { spec: "@a/notes@1.2.3", name: "@a/notes", bin: undefined, args: ["-y"] }],
    ["-q -- notes@^1 --x", { spec: "notes@^1", name: "notes", bin: undefined, args: ["--x"] }],
    ["-y -p notes@latest serve --x", { spec: "notes@latest", name: "notes", bin: "serve", args: ["--x"] }],
    ["--package=@a/notes serve", { spec: "@a/notes", name: "@a/notes", bin: "serve", args: [] }],
  ];
  for (const [text, request] of cases) assert.deepEqual(parseNpx(text.split(" ")), request);
});

test("what is not one package of a registry is refused with the reason", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["-y", /names no package/],
    ["-p a -p b c", /more than one package/],
    ["-c script", /option -c is not supported/],
    ["--registry=http://evil.example notes", /option --registry is not supported/],
    ["-- --ignore-scripts=false", /not the name of a package/],
    ["github:user/repo", /not the name of a package/],
    ["https://host.example/x.tgz", /not the name of a package/],
    ["./folder", /not the name of a package/],
    ["notes@npm:other@1", /not the name of a package/],
    ["../../etc", /not the name of a package/],
  ];
  for (const [text, problem] of cases) {
    const result = parseNpx(text.split(" "));
    assert.match("problem" in result ? result.problem : "accepted", problem, text);
  }
});
