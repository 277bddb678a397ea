/** Runs named steps in sequence and prints a line for each; shows the output of a step that fails. */

import { spawn } from "node:child_process";

export interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Shows the output immediately, for steps that take long. */
  readonly live?: boolean;
}

/** Runs every step, also after a failure, so that one run shows all problems. */
export async function runSteps(steps: readonly Step[]): Promise<boolean> {
  let good = true;
  for (const step of steps) {
    const startedAt = performance.now();
    const { code, output } = await runStep(step);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${step.name} (${seconds} s)`);
    if (code !== 0) {
      good = false;
      console.log(output);
    }
  }
  return good;
}

function runStep({ command: [file, ...args], live = false }: Step): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ["ignore", live ? "inherit" : "pipe", live ? "inherit" : "pipe"] });
    let output = "";
    child.stdout?.on("data", (text: Buffer) => (output += text.toString()));
    child.stderr?.on("data", (text: Buffer) => (output += text.toString()));
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}
