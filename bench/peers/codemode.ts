/** Cloudflare's code mode on open-source workerd, reached over HTTP on a unix socket: no confinement, no ledger. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { createPrograms, expectAnswer } from "./peer.ts";
import type { Peer } from "./peer.ts";

const WORKER = `import { DynamicWorkerExecutor } from "@cloudflare/codemode";
const tools = { name: "codemode", fns: { echo: async (args) => args } };
export default {
  async fetch(request, env) {
    const executor = new DynamicWorkerExecutor({ loader: env.LOADER });
    const { result, error } = await executor.execute(await request.text(), [tools]);
    return Response.json({ result, error });
  },
};`;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "main.js", esModule = embed "bundle.js")],
  compatibilityDate = "2026-10-01",
  bindings = [(name = "LOADER", workerLoader = ())],
);`;

const PROGRAMS = createPrograms('codemode.echo({ message: "x" })');

export async function openCodemode(folder: string): Promise<Peer> {
  writeFileSync(join(folder, "worker.js"), WORKER);
  writeFileSync(join(folder, "config.capnp"), CONFIG);
  const bundle = ["worker.js", "--bundle", "--format=esm", "--outfile=bundle.js", "--external:cloudflare:*"];
  const built = spawnSync(join(folder, "node_modules/.bin/esbuild"), [...bundle, "--external:node:*"], { cwd: folder });
  if (built.status !== 0) throw new Error(built.stderr.toString());
  const socketPath = join(folder, "workerd.sock");
  const binary = join(folder, "node_modules/@cloudflare/workerd-linux-64/bin/workerd");
  const child = spawn(binary, ["serve", "--experimental", "config.capnp", `--socket-addr=http=unix:${socketPath}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  while (!existsSync(socketPath) && child.exitCode === null) await sleep(20);
  return {
    name: "@cloudflare/codemode (dynamic worker and tools in one workerd process), over a socket",
    tasks: ["nothing", "ten", "hundred"],
    run: async (task) =>
      expectAnswer(task, JSON.parse(await ask(socketPath, `async () => { ${PROGRAMS[task]} }`)).result),
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
    },
  };
}

async function ask(socketPath: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request(
    { socketPath, method: "POST", path: "/" },
    (response) => void text(response).then(resolve, reject),
  );
  asked.on("error", reject).end(body);
  return promise;
}
