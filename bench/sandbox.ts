/** Measures the sandbox at its own interface: the time of a program, programs per second, and the cost of a call. */

import { DEFAULT_LIMITS } from "../src/domain/index.ts";
import type { Limits } from "../src/domain/index.ts";
import { openReaper } from "../src/processes/index.ts";
import { createQuickjsRealms } from "../src/sandbox/engines/quickjs/quickjs-realm.ts";
import { loadQuickjsImage } from "../src/sandbox/fixtures/quickjs-image.ts";
import { confineEngine, createEngine, openSandbox } from "../src/sandbox/index.ts";
import type { SandboxResult } from "../src/sandbox/index.ts";
import { REHEARSAL } from "../src/sandbox/wire.ts";
import { KERNELS, runCold, runHere } from "./kernels.ts";
import { ms, print, rate, time } from "./measure.ts";
import { runProgram } from "./run-program.ts";

const LIMITS: Limits = { ...DEFAULT_LIMITS, calls: 1_000_000, concurrentCalls: 1_000 };

export async function benchSandbox(): Promise<void> {
  await using reaper = openReaper();
  const engine = await confineEngine(createEngine("isolate", process.execPath), "auto");
  await using sandbox = openSandbox({
    engine,
    keeper: reaper,
    concurrency: 4,
    queue: 1_000,
    limits: LIMITS,
    now: Date.now,
    seed: () => [1, 2, 3, 4],
  });
  const run = (body: string): Promise<SandboxResult> => runProgram(sandbox, body, LIMITS);
  for (let warm = 0; warm < 100; warm += 1) await run("return 1 + 1");
  console.log(`\nSandbox (engine ${sandbox.engine}, isolation ${sandbox.isolation})`);
  await benchTrivial(run);
  await benchCalls(run);
  await benchKernels(run);
  await benchReset();
}

/** In this process, because a child also reads and writes frames. Every program has another text. */
async function benchReset(): Promise<void> {
  const { image, createInstance } = loadQuickjsImage();
  const createRealm = createQuickjsRealms(image, createInstance);
  const start = JSON.stringify(REHEARSAL);
  const runMany = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      const realm = await createRealm(LIMITS.memoryBytes, () => undefined);
      realm.start(`return 1 + ${n}`, start, 0, LIMITS.wallMs);
      realm.dispose();
    }
  };
  const count = 5_000;
  await runMany(count);
  const before = process.cpuUsage();
  await runMany(count);
  const { user, system } = process.cpuUsage(before);
  print("quickjs: reset and return 1+n, processor time", ms((user + system) / 1_000 / count), "aim: 0.25 ms");
}

async function benchTrivial(run: (body: string) => Promise<SandboxResult>): Promise<void> {
  const trivial = (): Promise<SandboxResult> => run("return 1 + 1");
  const paced = await time(200, trivial, 15);
  print("return 1+1, paced: p50 / p95", `${ms(paced.p50)} / ${ms(paced.p95)}`, "aim: 1.5 / 6 ms on a quiet machine");
  const dense = await time(500, trivial);
  print("return 1+1, back to back: p50 / p95", `${ms(dense.p50)} / ${ms(dense.p95)}`, "aim: 2.5 ms");
  print("executions per second, 4 at once", (await rate(2_000, 4, trivial)).toFixed(0), "aim: 700");
}

async function benchCalls(run: (body: string) => Promise<SandboxResult>): Promise<void> {
  const count = 5_000;
  const startedAt = performance.now();
  await run(`for (let i = 0; i < ${count}; i++) await tools.echo({ i });`);
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  print("sequential calls per second", perSecond.toFixed(0), "aim: 4,000");
  const one = await time(50, () => run("await tools.echo({})"));
  const hundred = await time(50, () =>
    run("await Promise.all(Array.from({ length: 100 }, (_, i) => tools.echo({ i })))"),
  );
  print("100 parallel calls against one", `${ms(hundred.p50)} / ${ms(one.p50)}`, "aim: 2 x one + 10 ms");
}

async function benchKernels(run: (body: string) => Promise<SandboxResult>): Promise<void> {
  for (const kernel of KERNELS) {
    runHere(kernel);
    const here = await time(7, async () => runHere(kernel));
    const inside = await time(7, () => run(kernel.body));
    const cold = runCold(kernel);
    const [ratio, warm] = [inside.p50 / cold, inside.p50 / here.p50].map((value) => `${value.toFixed(2)} x`);
    print(
      `${kernel.name}: program against plain Node, cold / warm`,
      `${ratio} / ${warm}`,
      `aim: 1.3 x   (${ms(inside.p50)}; ${ms(cold)} / ${ms(here.p50)})`,
    );
  }
}
