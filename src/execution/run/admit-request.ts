/** Asks the disk, the queue and the quotas before anything of a request is stored. A refusal is one small record. */

import { GloveboxError, describeError } from "../../domain/index.ts";
import type { ExecutionId, ExecutionResult } from "../../domain/index.ts";

import type { ExecutionDeps } from "../deps.ts";
import type { AdmitExecution } from "../quotas.ts";
import type { ExecutionRequest } from "../requests.ts";
import { emptyResult, markDryRun, settleFailure } from "../settle.ts";

export type Admission =
  | {
      readonly ok: true;
      readonly id: ExecutionId;
      /** Returns what was reserved for it. */
      readonly admit: AdmitExecution;
      /** Returns the reserved time, for an execution that is not opened after all. */
      abandon(): Promise<void>;
    }
  | { readonly ok: false; readonly result: ExecutionResult };

type AdmissionDeps = Pick<
  ExecutionDeps,
  "admit" | "checkQueue" | "checkSpace" | "createId" | "engine" | "hide" | "isolation" | "log" | "report" | "run"
>;

export interface AdmissionDesk {
  /** `needsSandbox`: it will run a program, and not only call tools. */
  admit(request: ExecutionRequest, needsSandbox: boolean): Promise<Admission>;
  /** Runs an admitted program: from here on the sandbox counts it. */
  readonly run: ExecutionDeps["run"];
  /** Must be called when the execution has ended, because not every program is run. */
  leave(signal: AbortSignal): void;
}

/** Programs that were admitted and have not reached the queue yet count as if they were in it. */
export function createAdmissionDesk(deps: AdmissionDeps): AdmissionDesk {
  /** By the signal of the request. */
  const coming = new Set<AbortSignal>();
  const refuse = async (request: ExecutionRequest, result: ExecutionResult): Promise<Admission> => {
    const whole = markDryRun(result, request);
    // Nothing happened that must be recorded, so a record that is lost changes nothing.
    await deps.log.refuse(request, whole).catch(() => undefined);
    return { ok: false, result: whole };
  };
  return {
    async admit(request, needsSandbox) {
      const { principal, limits, signal } = request;
      const id = deps.createId();
      const lack = await deps.checkSpace().catch((thrown: unknown) => thrown);
      if (lack instanceof GloveboxError)
        return refuse(request, { ...emptyResult({ id }, "failed", deps), error: describeError(lack) });
      try {
        if (needsSandbox) {
          deps.checkQueue(coming.size, principal);
          coming.add(signal);
        }
        const grant = await deps.admit({ execution: id, principal, wallMs: limits.wallMs });
        return { ok: true, id, admit: async () => grant, abandon: () => grant.release(0) };
      } catch (thrown) {
        coming.delete(signal);
        // Nothing may run that cannot be recorded, and no result may say that something was.
        if (thrown instanceof GloveboxError && thrown.code === "STORE_UNAVAILABLE") throw thrown;
        return refuse(request, settleFailure({ id }, thrown, deps));
      }
    },
    run(job, admitted = job.signal) {
      coming.delete(admitted);
      return deps.run(job);
    },
    leave: (signal) => void coming.delete(signal),
  };
}
