/** What a server is refused before it starts: a level that cannot be reached, and files that cannot be given. */

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { parseConnectorId } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";
import type { ConfineRequest, NamedPlace, ServerLaunch } from "../settings.ts";
import { createConfiner } from "./confine-server.ts";
import type { ConfinerOptions } from "./confine-server.ts";
import { findMissing } from "./find-missing.ts";
import { examineMachine } from "./machine.ts";
import type { Machine } from "./machine.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-confiner-")));
const home = join(folder, "home");
const docs = join(home, "docs");
mkdirSync(docs, { recursive: true });
const script = join(home, "app", "dist", "server.mjs");
mkdirSync(join(home, "app", "dist"), { recursive: true });
writeFileSync(join(home, "app", "package.json"), "{}");
writeFileSync(script, "");
symlinkSync(join(home, "app"), join(docs, "link"));
mkdirSync(join(docs, "drafts"));
/** Programs in a folder that the server can write, and one elsewhere, which is not its business. */
const project = join(home, "project");
const [other, linked, written] = [
  join(home, "app/dist/tool"),
  join(project, "bin/linked"),
  join(project, "bin/written"),
];
mkdirSync(join(project, "bin"), { recursive: true });
const write = (file: string, first: string, rest = ""): void =>
  writeFileSync(file, `#!${first}\n${rest}`, { mode: 0o755 });
write(other, "/bin/sh");
symlinkSync(other, linked);
write(written, `/usr/bin/env -S NAME=/..${other} /bin/sh`);
write(join(project, "bin", "plain"), "/bin/sh");
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

const real = await examineMachine();
const isConfinable = "value" in real.namespaces && "value" in real.landlock;
const missing = { missing: "it is not here", remedy: "Get it" };

interface Case {
  readonly level?: ConfineRequest["level"];
  readonly files?: ConfineRequest["files"];
  readonly named?: readonly NamedPlace[];
  readonly machine?: Partial<Machine>;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly locatePackage?: NonNullable<ConfinerOptions["locatePackage"]>;
}

async function launch({
  level = "strict",
  files,
  named = [],
  machine,
  command,
  args,
  ...more
}: Case): Promise<ServerLaunch> {
  const id = parseConnectorId("up");
  assert.ok(id);
  const confine = createConfiner({
    id,
    confine: { level, limits: {}, ...(files ? { files } : {}) },
    networkPolicy: undefined,
    ...more,
    machine: async () => ({ ...real, ...machine }),
    listNamed: () => named,
    home,
    environment: {},
    egress: openEgress(),
    createPassword: () => "password",
    onRequest: async () => undefined,
  });
  return confine({ command: command ?? process.execPath, args: args ?? [script], cwd: folder, env: { KEY: "value" } });
}

/** The value after each occurrence of an option, and the one after that. */
function valuesOf({ args }: ServerLaunch, option: string): readonly string[] {
  return args.flatMap((arg, index) => (arg === option ? [args[index + 1] ?? ""] : []));
}

describe("a level that cannot be reached", () => {
  const cases: readonly (readonly [string, Case, RegExp, RegExp])[] = [
    [
      "strict without namespaces",
      { machine: { namespaces: missing } },
      /confine "strict" cannot be reached: namespaces: it is not here/,
      /^Get it; or set mcpServers\.up\.confine to ("files" or )?"off"$/,
    ],
    [
      "files without Landlock",
      { level: "files", machine: { landlock: missing } },
      /confine "files" cannot be reached: landlock: it is not here/,
      /^Get it; or set mcpServers\.up\.confine to "off"$/,
    ],
    [
      "files with an old Landlock",
      { level: "files", machine: { landlock: { value: 3 } } },
      /Landlock has no rules for TCP before version 4/,
      /^Use Linux 6\.7 or newer/,
    ],
    [
      "any level on another system",
      { machine: { native: missing, namespaces: missing, landlock: missing } },
      /launcher: it is not here/,
      /confine to "off"$/,
    ],
  ];
  for (const [name, given, message, hint] of cases) {
    test(`${name} is an error that names the layer and the remedy`, async () => {
      await assert.rejects(launch(given), ({ message: text, details }: Error & { details: { hint: string } }) => {
        assert.match(text, message);
        assert.match(details.hint, hint);
        return true;
      });
    });
  }
});

test("namespaces that cannot be made are missing with the cause of bubblewrap, and a remedy for it", async () => {
  const bubblewrap = join(folder, "bwrap");
  const causes = [
    ["setting up uid map: Read-only file system", /^Mount \/proc so that it can be written/],
    ["No permissions to create new namespace", /^Allow unprivileged user namespaces/],
  ] as const;
  for (const [cause, remedy] of causes) {
    write(bubblewrap, "/bin/sh", `echo 'bwrap: ${cause}' >&2\nexit 1\n`);
    const { namespaces } = await examineMachine(bubblewrap);
    assert.ok("missing" in namespaces);
    assert.equal(namespaces.missing, `bwrap: ${cause}`);
    assert.match(namespaces.remedy, remedy);
  }
});

describe("the files of a confined server", { skip: isConfinable ? false : "nothing can be confined here" }, () => {
  const gone = join(folder, "gone");
  const refusals: readonly (readonly [string, Case, RegExp])[] = [
    [
      "a listed folder that does not exist",
      { files: { read: [gone], write: [] } },
      new RegExp(`files\\.read\\[0\\], ${gone}, does not exist`),
    ],
    [
      "the folder of all processes",
      { files: { read: [], write: ["/proc/1"] } },
      /files\.write\[0\] is \/proc\/1, which no confined server may have/,
    ],
    [
      "a link below a folder that the server can write",
      { files: { read: [join(docs, "link")], write: [docs] } },
      new RegExp(`${docs}/link leads to ${home}/app by a link, and the server can change links below ${docs}$`),
    ],
    [
      "a command that the server can replace, and that is a link to elsewhere",
      { command: linked, files: { read: [], write: [project] } },
      new RegExp(`its command leads to ${other}, and the server can change the command below ${project}$`),
    ],
    [
      "a command whose first line the server can write, and which names a program elsewhere",
      { command: written, named: [{ key: "cwd", path: project }] },
      new RegExp(`its command leads to ${other}, and the server can change the command below ${project}$`),
    ],
    [
      "an argument that names the home folder",
      { named: [{ key: "args[1]", path: home }] },
      /its args\[1\] names a folder that contains your whole home folder/,
    ],
  ];
  for (const [name, given, message] of refusals) {
    test(`${name} is refused before the start`, () =>
      assert.rejects(launch(given), { code: "CONFIG_INVALID", message }));
  }

  test("npx is replaced by the installed package, which may be read and not written", async () => {
    const modules = join(home, "app", "dist");
    const located = { command: process.execPath, args: [join(modules, "serve")], folder: modules };
    await using started = await launch({ command: "npx", locatePackage: async () => located });
    assert.deepEqual(started.args.slice(-2), [process.execPath, join(modules, "serve")]);
    assert.ok(valuesOf(started, "--ro-bind").includes(modules));
    assert.deepEqual(valuesOf(started, "--bind"), []);
  });

  test("what arguments name may be read and written, and the package of a script may be read", async () => {
    await using started = await launch({ named: [{ key: "args[1]", path: docs }] });
    assert.deepEqual(valuesOf(started, "--bind"), [docs]);
    assert.ok(valuesOf(started, "--ro-bind").includes(join(home, "app")));
    assert.ok(!valuesOf(started, "--ro-bind").includes(home));
  });

  test("a command in a folder that the server can write is started, and so is one that leads to what is listed", async () => {
    await using plain = await launch({
      command: join(project, "bin", "plain"),
      args: [],
      named: [{ key: "cwd", path: project }],
    });
    assert.deepEqual(valuesOf(plain, "--bind"), [project]);
    assert.ok(!valuesOf(plain, "--ro-bind").some((path) => path.startsWith(join(home, "app"))));
    const files = { read: [join(home, "app")], write: [project] };
    await using listed = await launch({ command: linked, args: [], files });
    assert.equal(listed.args.at(-1), linked);
  });

  test("a program of the name node is asked for its version only where the server cannot write", async () => {
    const [node, asked] = [join(project, "bin", "node"), join(folder, "asked")];
    write(node, "/bin/sh", `touch '${asked}'\n`);
    await using _writing = await launch({ command: node, files: { read: [], write: [project] } });
    assert.ok(!existsSync(asked));
    await using _reading = await launch({ command: node, files: { read: [project], write: [] } });
    assert.ok(existsSync(asked));
  });

  test("a folder below one that the server can write is given, and so is a link where it cannot write", async () => {
    const [drafts, link] = [join(docs, "drafts"), join(docs, "link")];
    await using inside = await launch({ files: { read: [drafts], write: [docs] } });
    assert.deepEqual(valuesOf(inside, "--bind"), [docs]);
    assert.ok(valuesOf(inside, "--ro-bind").includes(drafts));
    await using linked = await launch({ files: { read: [docs, link], write: [] } });
    assert.ok(valuesOf(linked, "--ro-bind").includes(link));
  });

  test("packages that are links are not given to a server that can write their folder", async () => {
    const modules = join(home, "linked", "node_modules");
    mkdirSync(join(modules, "up"), { recursive: true });
    const [own, other] = [join(modules, "up", "serve.mjs"), join(home, "app")];
    writeFileSync(own, "");
    symlinkSync(other, join(modules, "other"));
    const start = (write: readonly string[]) => launch({ args: [own], files: { read: [], write } });
    await using without = await start([]);
    assert.ok(valuesOf(without, "--ro-bind").includes(other));
    await using writing = await start([join(home, "linked")]);
    assert.ok(!valuesOf(writing, "--ro-bind").includes(other));
  });

  test("a server at files does not start without a folder for its files, and says where it must be", async (context) => {
    const before = process.env["TMPDIR"];
    context.after(() => {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    });
    process.env["TMPDIR"] = gone;
    await assert.rejects(launch({ level: "files" }), {
      message: new RegExp(`cannot make a folder for it in ${gone} \\(ENOENT\\)`),
    });
  });

  test("the folder of a server at files is removed with it, by another process and without what links lead to", async (context) => {
    const [bin, kept] = [join(folder, "bin"), join(folder, "kept")];
    mkdirSync(bin);
    mkdirSync(kept);
    const started = await launch({ level: "files" });
    const own = started.env["HOME"] ?? "";
    symlinkSync(kept, join(own, "link"));
    await started[Symbol.asyncDispose]();
    while (existsSync(own)) await wait(5); // a busy machine may take longer
    assert.ok(existsSync(kept));
    const path = process.env["PATH"] ?? "";
    context.after(() => (process.env["PATH"] = path));
    write(join(bin, "rm"), "/bin/sh", `echo "$@" > '${join(bin, "removed")}'\n`);
    process.env["PATH"] = `${bin}:${path}`;
    const other = await launch({ level: "files" });
    await other[Symbol.asyncDispose]();
    const removed = dirname(other.env["HOME"] ?? "");
    const said = join(bin, "removed");
    while (!existsSync(said) || readFileSync(said, "utf8") === "") await wait(5);
    assert.equal(readFileSync(said, "utf8"), `-rf -- ${removed}\n`);
    rmSync(removed, { recursive: true });
  });

  test("with files, what arguments name is not given", async () => {
    await using started = await launch({ named: [{ key: "args[1]", path: docs }], files: { read: [], write: [] } });
    assert.deepEqual(valuesOf(started, "--bind"), []);
  });

  test("the same files are rules of Landlock at files, and no value of the environment is an argument", async () => {
    await using started = await launch({ level: "files", files: { read: [docs], write: [] } });
    assert.ok(valuesOf(started, "-x").includes(docs));
    assert.deepEqual([started.env["KEY"], started.args.includes("value")], ["value", false]);
  });

  test("a server that ends with an error about a file that it lacks gets a hint, and the file is in its status", async () => {
    await using started = await launch({});
    const line = `Error: ENOENT: no such file or directory, open '${home}/.config/app.json'`;
    assert.match(started.explainEnd([line])?.hint ?? "", /names the files that it lacks/);
    assert.deepEqual(started.status(), { level: "strict", missingFiles: [`${home}/.config/app.json`] });
    started.noteError(`ENOENT: no such file or directory, open '${join(home, "app", "x")}'`);
    assert.equal(started.status().missingFiles?.length, 1); // that folder can be read, so its confinement is not the cause
    started.noteError(`EROFS: read-only file system, open '${join(home, "app", "x")}'`);
    assert.equal(started.status().missingFiles?.at(-1), join(home, "app", "x")); // but it cannot be written
  });
});

test("paths are found in the errors of Node, Python and the C library", () => {
  assert.deepEqual(
    [
      "EACCES: permission denied, open '/home/me/.npmrc'",
      "PermissionError: [Errno 13] Permission denied: '/srv/data'",
      "cannot open /var/db: Read-only file system",
      "touch: cannot touch '/x/y': Permission denied",
      "EROFS: read-only file system, mkdir '/data/cache'",
      "All good in /home",
    ].map((text) => findMissing(text).map(({ path }) => path)),
    [["/home/me/.npmrc"], ["/srv/data"], [], [], ["/data/cache"], []],
  );
});
