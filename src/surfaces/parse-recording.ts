/** An export of an execution as it comes from outside: held to its form, its digest and the ranges of limits. */

import { parseLimits } from "../config/index.ts";
import { parseRecordingFile } from "../execution/index.ts";
import type { KeptExecution } from "../execution/index.ts";

/** Throws `REQUEST_INVALID`. */
export function parseRecording(raw: unknown): KeptExecution {
  const kept = parseRecordingFile(raw);
  const { recording } = kept;
  const limits = parseLimits(recording.request.limits);
  return { ...kept, recording: { ...recording, request: { ...recording.request, limits } } };
}
