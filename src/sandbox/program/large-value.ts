/** Reads the large value of a program that has returned, in slices. */

import type { Json } from "../../domain/index.ts";
import { runInSlices } from "../../timing/index.ts";
import type { Owner, SlicedWork } from "../../timing/index.ts";

import type { Frame } from "../frames.ts";
import type { ProgramEnding } from "../sandbox.ts";
import type { SandboxChild } from "../start-child.ts";
import { TO_HOST } from "../wire.ts";
import { activeAfterEnd, toFatal } from "./parse-reports.ts";

/** `settle` releases the child, which serves no other program before. */
export async function readLargeValue(
  work: SlicedWork<Json | undefined>,
  { child, owner, settle }: { child: SandboxChild; owner: Owner; settle: (ending: ProgramEnding) => void },
): Promise<void> {
  const later: Frame[] = [];
  // If the child dies, it is replaced when it is released.
  child.listener = { frame: (frame) => void (later.length < 2 && later.push(frame)), gone: () => undefined };
  const ending = await runInSlices(work, owner).then(
    (value): ProgramEnding => {
      // All that may follow a value is that the child is ready for another program.
      const isHonest = later.length < 2 && later.every(({ kind }) => kind === TO_HOST.READY);
      return isHonest ? { kind: "returned", value } : { kind: "failed", error: activeAfterEnd() };
    },
    (thrown: unknown): ProgramEnding => ({ kind: "failed", error: toFatal(thrown) }),
  );
  settle(ending);
  if (ending.kind === "returned") for (const frame of later) child.listener.frame(frame);
}
