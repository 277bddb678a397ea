/** What must be true before a client can work, in this order. The last step needs the proof of a real call. */

import type { StatusAnswer } from "../../../src/surfaces/admin/contract.ts";
import type { SetupAnswer } from "../../../src/surfaces/admin/contract/setup.ts";
import { isBroken } from "../../attention.ts";

export type StepName = "gateway" | "isolation" | "servers" | "call";

export interface SetupStep {
  readonly name: StepName;
  readonly isDone: boolean;
}

export function toSteps(status: StatusAnswer, setup: Pick<SetupAnswer, "call"> | undefined): readonly SetupStep[] {
  const isReady = status.upstreams.some(({ state }) => state === "ready");
  return [
    { name: "gateway", isDone: true },
    { name: "isolation", isDone: status.isolation !== "process" },
    { name: "servers", isDone: isReady && !status.upstreams.some(isBroken) },
    { name: "call", isDone: setup?.call !== undefined },
  ];
}
