/** Reads the large value of a program that has returned, in slices. */

import type { Json } from "../../domain/index.ts";
import { runInSlices } from "../../timing/index.ts";
import type { Owner, SlicedWork } from "../../timing/index.ts";

import { expectRest } from "../child-lease.ts";
import type { Frame } from "../frames.ts";
import type { ProgramEnding } from "../sandbox.ts";
import type { SandboxChild } from "../start-child.ts";
import { activeAfterEnd, toFatal } from "./parse-reports.ts";

/** More than a child sends after its program. */
const MAX_REST = 4;

interface LargeValueOptions {
  readonly child: SandboxChild;
  readonly owner: Owner;
  /** How many PINGs the child has not answered. */
  readonly pongs: () => number;
  /** Releases the child, which serves no other program before. */
  readonly settle: (ending: ProgramEnding) => void;
}

export async function readLargeValue(
  work: SlicedWork<Json | undefined>,
  { child, owner, pongs, settle }: LargeValueOptions,
): Promise<void> {
  const later: Frame[] = [];
  // If the child dies, it is replaced when it is released.
  child.listener = { frame: (frame) => void (later.length < MAX_REST && later.push(frame)), gone: () => undefined };
  const ending = await runInSlices(work, owner).then(
    (value): ProgramEnding => {
      // All that may follow a value is that the child is ready for another program.
      const isComplete = expectRest(pongs());
      const isHonest = later.every(({ kind }) => isComplete(kind) !== undefined);
      return isHonest ? { kind: "returned", value } : { kind: "failed", error: activeAfterEnd() };
    },
    (thrown: unknown): ProgramEnding => ({ kind: "failed", error: toFatal(thrown) }),
  );
  settle(ending);
  if (ending.kind === "returned") for (const frame of later) child.listener.frame(frame);
}
