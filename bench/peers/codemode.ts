/** Cloudflare's code mode on open-source workerd, reached over HTTP on a unix socket: no confinement, no ledger. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import type { Product } from "./peer.ts";

const WORKER = `import { DynamicWorkerExecutor } from "@cloudflare/codemode";
const wait = ({ ms }) => new Promise((done) => setTimeout(done, ms, { ms }));
const tools = { name: "codemode", fns: { echo: async (args) => args, wait } };
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

export const CODEMODE: Product = {
  name: "@cloudflare/codemode 0.5.6, tools in its process",
  dialect: {
    call: (tool, args) => `codemode.${tool}(${args})`,
    wrap: (body) => `async () => { ${body} }`,
  },
  async prepare(folder) {
    writeFileSync(join(folder, "worker.js"), WORKER);
    writeFileSync(join(folder, "config.capnp"), CONFIG);
    const bundle = ["worker.js", "--bundle", "--format=esm", "--outfile=bundle.js", "--external:cloudflare:*"];
    const esbuild = join(folder, "node_modules/.bin/esbuild");
    const built = spawnSync(esbuild, [...bundle, "--external:node:*"], { cwd: folder });
    if (built.status !== 0) throw new Error(built.stderr.toString());
  },
  async open(folder) {
    const socketPath = join(folder, "workerd.sock");
    rmSync(socketPath, { force: true });
    const binary = join(folder, "node_modules/@cloudflare/workerd-linux-64/bin/workerd");
    const args = ["serve", "--experimental", "config.capnp", `--socket-addr=http=unix:${socketPath}`];
    const child = spawn(binary, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    while (!existsSync(socketPath) && child.exitCode === null) await sleep(2);
    return {
      pid: child.pid ?? 0,
      async run(code) {
        const { result, error } = JSON.parse(await ask(socketPath, code)) as Readonly<Record<string, unknown>>;
        if (error !== undefined) throw new Error(`codemode: ${JSON.stringify(error)}`);
        return result;
      },
      async [Symbol.asyncDispose]() {
        const ended = once(child, "exit");
        child.kill();
        await ended;
      },
    };
  },
};

async function ask(socketPath: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request(
    { socketPath, method: "POST", path: "/" },
    (response) => void text(response).then(resolve, reject),
  );
  asked.on("error", reject).end(body);
  return promise;
}
