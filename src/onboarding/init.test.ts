import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import * as fc from "fast-check";

import { GloveboxError } from "../domain/index.ts";
import { applyInit } from "./apply-init.ts";
import { CLIENTS } from "./clients.ts";
import { findClientPlaces } from "./find-files.ts";
import type { Places } from "./find-files.ts";
import { HOMES, makeHome } from "./fixtures/homes.ts";
import { eject, init, plan, planEject, seal, toConfig } from "./fixtures/init-home.ts";
import { applyUndo } from "./undo-init.ts";
import type { BackupSeal } from "./undo-log.ts";

function read(home: Places, path: string): string {
  return readFileSync(join(home.home, path), "utf8");
}

function readConfig(home: Places): unknown {
  return JSON.parse(readFileSync(toConfig(home), "utf8"));
}

describe("entries of clients", () => {
  const TRANSLATED: readonly (readonly [string, object, object])[] = [
    [
      "a command with its arguments in one string",
      { command: "npx -y server" },
      { command: "npx", args: ["-y", "server"] },
    ],
    ["a command whose path has a space", { command: "/opt/my tools/serve" }, { command: "/opt/my tools/serve" }],
    ["a quoted command", { command: `sh -c "a b"` }, { command: `sh -c "a b"` }],
    [
      "an unknown reference, which stays text",
      { command: "a", env: { B: "${{ x.y }} ${c d}" } },
      { command: "a", env: { B: "$${{ x.y }} $${c d}" } },
    ],
    [
      "a secret of Continue",
      { command: "a", env: { B: "${{ secrets.TOK }}" } },
      { command: "a", env: { B: "${secret:TOK}" } },
    ],
  ];
  for (const [title, raw, entry] of TRANSLATED) {
    it(`translates ${title}`, () => {
      const home = makeHome({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { one: raw } }) });
      assert.deepEqual(
        plan(home).servers.map((server) => server.entry),
        [entry],
      );
    });
  }

  it("starts a server of a project in its folder, and one of the user wherever Glovebox starts", () => {
    const mine = { command: "python", args: ["serve.py"] };
    const projects = { "/work/app": { mcpServers: { local: mine, deep: { ...mine, cwd: "tools" } } } };
    const home = makeHome({ ".claude.json": JSON.stringify({ mcpServers: { mine }, projects }) });
    assert.deepEqual(
      plan(home).servers.map(({ name, entry }) => [name, entry["cwd"]]),
      [
        ["mine", undefined],
        ["local", "/work/app"],
        ["deep", "/work/app/tools"],
      ],
    );
  });

  it("does not take names of variables and images of containers for secrets", () => {
    const args = ["run", "-e", "BRAVE_API_KEY", "mcp/brave"];
    const home = makeHome({
      ".cursor/mcp.json": JSON.stringify({
        mcpServers: { quiet: { command: "docker", args }, loud: { command: "a", args: ["--api-key", "0123456789"] } },
      }),
    });
    assert.deepEqual(
      plan(home).servers.map(({ warnings }) => warnings.length),
      [0, 1],
    );
  });
});

describe("init", () => {
  it("has a home folder of each client among its tests", () => {
    assert.deepEqual(Object.keys(HOMES).toSorted(), CLIENTS.map(({ id }) => id).toSorted());
  });

  for (const [id, files] of Object.entries(HOMES)) {
    it(`registers Glovebox in ${id}, and eject restores every byte`, async () => {
      const home = makeHome(files);
      const { clients } = plan(home);
      assert.ok(clients.length > 0, "the client is found");
      assert.deepEqual(
        clients.flatMap(({ problem }) => problem?.message ?? []),
        [],
      );
      await init(home);
      for (const path of Object.keys(files)) assert.match(read(home, path), /opt\/glovebox\/bin\/glovebox\.js/);
      assert.deepEqual(plan(home).edits, [], "a second run changes nothing");
      const comments =
        Object.values(files)
          .join("\n")
          .match(/^\s*(?:#|\/\/).*$/gm) ?? [];
      for (const path of Object.keys(files))
        for (const comment of comments) assert.ok(read(home, path).includes(comment.trim()), comment);
      eject(home);
      for (const [path, text] of Object.entries(files)) assert.equal(read(home, path), text);
      assert.equal(existsSync(toConfig(home)), false);
      assert.equal(existsSync(join(home.stateFolder, "init")), false);
    });

    it(`puts the servers of ${id} back after an edit by hand, and keeps the edit`, async () => {
      const home = makeHome(files);
      await init(home);
      const [path = "", before = ""] = Object.entries(files)[0] ?? [];
      const comment = path.endsWith(".json") ? "\n// by hand\n" : "\n# by hand\n";
      writeFileSync(join(home.home, path), read(home, path) + comment);
      assert.ok(eject(home).includes("edited"));
      assert.ok(read(home, path).includes(comment), "the edit stays");
      assert.doesNotMatch(read(home, path), /opt\/glovebox/);
      const again = makeHome({ [path]: before });
      assert.deepEqual(plan(home).servers, plan(again).servers, "the same servers as before");
    });
  }

  it("imports servers with their references, and moves literal secrets to the vault", async () => {
    const home = makeHome({ ...HOMES["windsurf"], ...HOMES["cursor"], ...HOMES["codex"], ...HOMES["vscode"] });
    const secrets = await init(home);
    assert.deepEqual(secrets, { GITHUB_WINDSURF_GITHUB_TOKEN: "ghp_0123456789abcdef", API_KEY: "sk-0123456789abcdef" });
    const files = ["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"];
    assert.deepEqual(readConfig(home), {
      mcpServers: {
        files: { command: "npx", args: files },
        sse: { type: "sse", url: "http://127.0.0.1:9/sse", headers: { "X-Key": "${MY_KEY:-}" } },
        github: { url: "https://api.example.com/mcp", headers: { Authorization: "Bearer ${secret:GITHUB_TOKEN}" } },
        work: { command: "node", args: ["/work/app/server.js"] },
        "files-codex": { command: "npx", args: files, env: { API_KEY: "${secret:API_KEY}" }, startupTimeoutMs: 20_000 },
        "with space": { url: "https://mcp.example.com", headers: { Authorization: "Bearer ${COMPANY_TOKEN:-}" } },
        "github-windsurf": {
          command: "npx",
          args: ["-y", "server-github"],
          env: { GITHUB_TOKEN: "${secret:GITHUB_WINDSURF_GITHUB_TOKEN}" },
        },
      },
    });
    assert.equal(statSync(toConfig(home)).mode & 0o777, 0o600);
    assert.doesNotMatch(readFileSync(toConfig(home), "utf8"), /ghp_|sk-/);
  });

  it("names keys without a counterpart, and leaves entries that cannot be connected in their client", () => {
    const { servers, clients } = plan(makeHome({ ...HOMES["gemini-cli"], ...HOMES["zed"] }));
    const stream = servers.find(({ name }) => name === "stream");
    assert.deepEqual(stream?.warnings, [
      "the key timeout is left out: the limit of a call is sandbox.limits.callMs",
      "the key trust is left out: write rules in policy.rules",
    ]);
    const zed = clients.find(({ id }) => id === "zed");
    assert.deepEqual(zed?.left, [{ name: "extension-server", reason: "it has neither a command nor a URL" }]);
    assert.deepEqual(zed?.servers, ["old", "files"]);
  });

  it("disables servers of a project file until a person confirms them, and does not change the file", async () => {
    const home = makeHome({ "app/.mcp.json": `{ "mcpServers": { "theirs": { "command": "curl" } } }` });
    const inProject = { ...home, project: join(home.home, "app") };
    const clientPlaces = findClientPlaces(inProject);
    const found = plan(home, { places: inProject, clientPlaces });
    assert.deepEqual(
      found.servers.map(({ entry }) => entry),
      [{ command: "curl", cwd: inProject.project, disabled: true }],
    );
    assert.deepEqual(
      found.edits.map(({ title }) => title),
      ["Glovebox"],
    );
    const confirmed = plan(home, { places: inProject, clientPlaces, confirmed: new Set(["theirs"]) });
    assert.deepEqual(
      confirmed.servers.map(({ entry }) => entry),
      [{ command: "curl", cwd: inProject.project }],
    );
    const shared = plan(home, { places: inProject, clientPlaces, isProject: true });
    assert.deepEqual(
      shared.edits.map(({ title }) => title),
      ["Glovebox", "Claude Code"],
    );
  });

  it("keeps servers and comments that the configuration has", async () => {
    const own = `{\n  // mine\n  "mcpServers": { "files": { "command": "mine" } }\n}\n`;
    const home = makeHome({ ...HOMES["cursor"], ".config/glovebox/glovebox.config.json": own });
    await init(home);
    const text = readFileSync(toConfig(home), "utf8");
    assert.match(text, /\/\/ mine/);
    assert.match(text, /"files": \{ "command": "mine" \}/);
    assert.match(text, /"files-cursor"/);
    eject(home);
    assert.equal(readFileSync(toConfig(home), "utf8"), own);
  });

  it("imports a server that two clients have once", () => {
    const { servers } = plan(makeHome({ ...HOMES["kiro"], ...HOMES["amp"], ...HOMES["lm-studio"] }));
    assert.deepEqual(
      servers.map(({ name, clients }) => [name, clients]),
      [["files", ["Kiro", "LM Studio", "Amp"]]],
    );
  });

  it("keeps imported entries in the client with keep", async () => {
    const home = makeHome(HOMES["kiro"] ?? {});
    await init(home, { keep: true });
    assert.match(read(home, ".kiro/settings/mcp.json"), /server-filesystem/);
    assert.deepEqual(plan(home, { keep: true }).edits, [], "a second run imports nothing twice");
  });

  it("follows a link to the file of a client, and keeps the link", async () => {
    const home = makeHome({ "dotfiles/mcp.json": HOMES["cursor"]?.[".cursor/mcp.json"] ?? "" });
    mkdirSync(join(home.home, ".cursor"));
    symlinkSync(join(home.home, "dotfiles/mcp.json"), join(home.home, ".cursor/mcp.json"));
    await init(home);
    assert.match(read(home, "dotfiles/mcp.json"), /glovebox/);
    eject(home);
    assert.equal(read(home, "dotfiles/mcp.json"), HOMES["cursor"]?.[".cursor/mcp.json"]);
  });
});

describe("what cannot be imported", () => {
  it("leaves a server that would make the configuration invalid in its client, with the reason", async () => {
    const home = makeHome({
      ".cursor/mcp.json": `{ "mcpServers": { "good": { "url": "https://a.example" }, "bad": { "url": "no" } } }`,
    });
    const checkEntry = (name: string): void => {
      if (name === "bad") throw new GloveboxError("CONFIG_INVALID", "bad.url is not a URL");
    };
    const [cursor] = plan(home, { checkEntry }).clients;
    assert.deepEqual([cursor?.servers, cursor?.left], [["good"], [{ name: "bad", reason: "bad.url is not a URL" }]]);
    await init(home, { checkEntry });
    assert.deepEqual(Object.keys(Object(JSON.parse(read(home, ".cursor/mcp.json"))).mcpServers).toSorted(), [
      "bad",
      "glovebox",
    ]);
  });

  it("names the position of a file that cannot be parsed, changes nothing in it, and imports the others", async () => {
    const broken = `{\n  "mcpServers": { "a": \n}`;
    const home = makeHome({ ".cursor/mcp.json": broken, ...HOMES["kiro"] });
    const [cursor] = plan(home).clients;
    assert.match(cursor?.problem?.message ?? "", /\.cursor\/mcp\.json:3:1 cannot be parsed: ValueExpected/);
    await init(home);
    assert.equal(read(home, ".cursor/mcp.json"), broken);
    assert.match(read(home, ".kiro/settings/mcp.json"), /glovebox/);
  });

  it("does not change a file whose servers cannot be edited as text", () => {
    const inline = `mcp_servers = { files = { command = "npx" } }\n`;
    const [codex] = plan(makeHome({ ".codex/config.toml": inline })).clients;
    assert.match(codex?.problem?.message ?? "", /cannot be edited without changing other parts/);
  });

  it("refuses a preview that is stale", async () => {
    const home = makeHome(HOMES["kiro"] ?? {});
    const planned = plan(home);
    writeFileSync(join(home.home, ".kiro/settings/mcp.json"), "{}");
    const powers = { stateFolder: home.stateFolder, store: "glovebox.db", seal, setSecret: async () => undefined };
    await assert.rejects(applyInit(planned, toConfig(home), powers), /changed after its changes were shown/);
    assert.equal(existsSync(toConfig(home)), false);
  });

  it("changes nothing if one file cannot be written", { skip: process.getuid?.() === 0 }, async () => {
    const home = makeHome({ ...HOMES["kiro"], ...HOMES["cursor"] });
    chmodSync(join(home.home, ".cursor"), 0o500);
    await assert.rejects(init(home), /cannot be written/);
    assert.equal(existsSync(toConfig(home)), false);
    chmodSync(join(home.home, ".cursor"), 0o700);
  });

  it("restores the files that were written when a later one fails", async () => {
    const home = makeHome({ ...HOMES["kiro"], ...HOMES["cursor"] });
    const planned = plan(home);
    const [config, ...others] = planned.edits;
    assert.ok(config);
    // A folder cannot be replaced by a file.
    const blocked = { ...config, path: join(home.home, "none"), realPath: join(home.home, ".cursor"), text: undefined };
    const powers = { stateFolder: home.stateFolder, store: "glovebox.db", seal, setSecret: async () => undefined };
    await assert.rejects(applyInit({ ...planned, edits: [config, ...others, blocked] }, toConfig(home), powers));
    for (const [path, text] of Object.entries({ ...HOMES["kiro"], ...HOMES["cursor"] }))
      assert.equal(read(home, path), text);
    assert.equal(existsSync(toConfig(home)), false);
  });

  it("undoes an import that ended after the list of changes was written", async () => {
    const home = makeHome(HOMES["kiro"] ?? {});
    const killed = {
      stateFolder: home.stateFolder,
      store: "glovebox.db",
      seal,
      setSecret: () => Promise.reject(new Error("killed")),
    };
    const planned = { ...plan(home), secrets: [{ name: "A", value: "b" }] };
    await assert.rejects(applyInit(planned, toConfig(home), killed), /killed/);
    eject(home);
    assert.equal(read(home, ".kiro/settings/mcp.json"), HOMES["kiro"]?.[".kiro/settings/mcp.json"]);
  });

  it("says which backup cannot be opened, undoes the rest, and can be tried again", async () => {
    const home = makeHome({ ...HOMES["kiro"], ...HOMES["cursor"] });
    await init(home);
    const locked: BackupSeal = {
      ...seal,
      open: (sealed, context) => {
        if (context.includes(".cursor")) throw new Error("wrong key");
        return seal.open(sealed, context);
      },
    };
    const outcomes = applyUndo(home.stateFolder, planEject(home, locked));
    assert.deepEqual(
      outcomes.map(({ title, outcome }) => [title, outcome]),
      [
        ["Kiro", "restored"],
        ["Cursor", "failed"],
        ["Glovebox", "removed"],
      ],
    );
    eject(home);
    assert.equal(read(home, ".cursor/mcp.json"), HOMES["cursor"]?.[".cursor/mcp.json"]);
  });

  it("restores the file of a client that is gone", async () => {
    const home = makeHome(HOMES["kiro"] ?? {});
    await init(home);
    rmSync(join(home.home, ".kiro"), { recursive: true });
    eject(home);
    assert.equal(read(home, ".kiro/settings/mcp.json"), HOMES["kiro"]?.[".kiro/settings/mcp.json"]);
  });
});

describe("generated files", () => {
  const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9 _.-]{0,11}$/).filter((text) => text !== "glovebox");
  const word = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.constantFrom("${env:A}", "a: b", "# no", '"', "\\", "é", "[x]"),
  );
  const entry = fc.record({ command: fc.stringMatching(/^[a-z]{1,8}$/), args: fc.array(word, { maxLength: 3 }) });
  const servers = fc.dictionary(name, entry, { maxKeys: 4 });
  const other = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), word, { maxKeys: 3 });

  const toToml = (all: Record<string, { command: string; args: string[] }>, rest: Record<string, string>): string =>
    [
      ...Object.entries(rest).map(
        ([key, value]) => `${key} = ${JSON.stringify(value).replaceAll("\u007f", "\\u007F")}`,
      ),
      ...Object.entries(all).map(
        ([key, { command, args }]) =>
          `\n# about ${key}\n[mcp_servers.${JSON.stringify(key)}]\ncommand = "${command}"\nargs = ${JSON.stringify(args).replaceAll("\u007f", "\\u007F")}`,
      ),
      "",
    ].join("\n");

  const formats: readonly (readonly [string, string, (all: never, rest: never) => string])[] = [
    [".cursor/mcp.json", "JSON", (all, rest) => JSON.stringify({ ...(rest as object), mcpServers: all }, null, 3)],
    [".codex/config.toml", "TOML", toToml],
  ];
  for (const [path, format, write] of formats)
    it(`init then eject is the identity on generated ${format}`, async () => {
      await fc.assert(
        fc.asyncProperty(servers, other, async (all, rest) => {
          const text = write(all as never, rest as never);
          const home = makeHome({ [path]: text });
          const { clients } = plan(home);
          assert.equal(clients[0]?.problem, undefined);
          await init(home);
          assert.deepEqual(
            Object.keys((readConfig(home) as { mcpServers: object }).mcpServers).length,
            Object.keys(all).length,
          );
          const after = read(home, path);
          writeFileSync(join(home.home, path), `${after}\n`);
          eject(home);
          const again = makeHome({ [path]: text });
          assert.deepEqual(
            new Set(plan(home).servers.map(({ name: one }) => one)),
            new Set(plan(again).servers.map(({ name: one }) => one)),
          );
          for (const { home: folder } of [home, again]) rmSync(folder, { recursive: true });
        }),
        { numRuns: 60 },
      );
    });
});
