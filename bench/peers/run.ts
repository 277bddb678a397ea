/**
 * `npm run bench:peers`: the same programs through Glovebox and through other products for code mode, one after the
 * other in one run. It installs them into a temporary folder, so it needs a package registry; nothing else here does.
 * What is compared is each product's own way in: a program as text, its result as a value.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { buildIfStale } from "../../scripts/build.ts";
import { ms, print, rate, time } from "../measure.ts";
import { openCodemode } from "./codemode.ts";
import { openGloveboxPeer } from "./glovebox.ts";
import type { Peer } from "./peer.ts";
import { openUtcp } from "./utcp.ts";

const PACKAGES = ["@cloudflare/codemode@0.5.6", "@utcp/code-mode@1.2.12", "esbuild@0.28.2", "workerd@1.20261104.1"];
const WARM = 50;
const PACED = 150;
const DENSE = 300;
const PAUSE_MS = 10;

await buildIfStale();
const folder = mkdtempSync(join(tmpdir(), "glovebox-peers-"));
try {
  install(folder);
  for (const open of [openGloveboxPeer, openUtcp, openCodemode]) await compare(open);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function install(into: string): void {
  writeFileSync(join(into, "package.json"), '{ "private": true, "type": "module" }');
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", ...PACKAGES];
  const { status } = spawnSync("npm", args, { cwd: into, stdio: "inherit" });
  if (status !== 0) throw new Error("The other products cannot be installed: is a package registry reachable?");
}

async function compare(open: (folder: string) => Promise<Peer>): Promise<void> {
  await using peer = await open(folder);
  await time(WARM, () => peer.run());
  const paced = await time(PACED, () => peer.run(), PAUSE_MS);
  const dense = await time(DENSE, () => peer.run());
  const perSecond = await rate(DENSE, 4, () => peer.run());
  console.log(`\n${peer.name}`);
  print("return 1 + 1, paced: p50 / p95", `${ms(paced.p50)} / ${ms(paced.p95)}`);
  print("return 1 + 1, back to back: p50 / p95", `${ms(dense.p50)} / ${ms(dense.p95)}`);
  print("executions per second, 4 at once", perSecond.toFixed(0));
}
