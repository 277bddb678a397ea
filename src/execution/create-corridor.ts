/** Everything that can be asked about executions and kept results, over the rooms that carry them out. */

import { tightenLimits } from "../domain/index.ts";
import type {
  ExecutionEvent,
  ExecutionResult,
  ExecutionView,
  Instant,
  Json,
  Limits,
  Principal,
} from "../domain/index.ts";
import type { ExecutionStore } from "../store/index.ts";

import { callTools } from "./call-tools.ts";
import type { Called, PlainCall } from "./call-tools.ts";
import { execute } from "./execute.ts";
import type { Rooms } from "./execute.ts";
import { followRunning } from "./follow-running.ts";
import { findMedia } from "./results/find-media.ts";
import type { Media } from "./results/find-media.ts";
import type { ReadResult, Results } from "./results/create-results.ts";
import type { ResultQuery } from "./results/read-part.ts";
import { resume } from "./resume.ts";

/** Who asks; who watches; and how to stop it. */
interface Asked {
  readonly principal: Principal;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ExecutionEvent) => void;
}

export interface CorridorOptions {
  readonly rooms: Rooms;
  readonly store: Pick<ExecutionStore, "find">;
  readonly results: Results;
  /** The most that any request may have. */
  readonly limits: Limits;
  readonly now: () => Instant;
}

export interface Corridor {
  execute(
    request: Asked & {
      readonly code: string;
      readonly input?: Json;
      readonly limits?: Partial<Limits>;
      readonly analysis?: boolean;
      readonly types?: boolean;
    },
  ): Promise<ExecutionResult>;
  callTools(request: Asked & { readonly calls: readonly PlainCall[] }): Promise<Called>;
  resume(request: Asked & { readonly execution: string; readonly waitMs?: number }): Promise<ExecutionView>;
  readResult(principal: Principal, handle: string, query: ResultQuery): Promise<ReadResult>;
  findMedia(principal: Principal, value: Json | undefined): Promise<readonly Media[]>;
}

/** How long a client that asks for an execution waits for its end before it hears that it goes on. */
const RESUME_MS = 20_000;
/** How long an execution may have waited for its turn before it counts as lost. */
const QUEUE_MS = 60_000;
const NEVER = new AbortController().signal;

export function createCorridor({ rooms, store, results, limits, now }: CorridorOptions): Corridor {
  const running = followRunning();
  const longestMs = limits.wallMs * 2 + QUEUE_MS;
  const resumeRooms = { ...rooms, store, running, now, openedAt: now(), longestMs };
  return {
    async execute({ code, limits: wanted = {}, signal = NEVER, onEvent, ...request }) {
      const tightened = tightenLimits(limits, wanted);
      return running.follow({ principal: request.principal.id, onEvent }, (follow) =>
        execute({ ...request, signal, source: code, limits: tightened, onEvent: follow }, rooms),
      );
    },
    callTools: ({ signal = NEVER, ...request }) => callTools({ ...request, signal, limits }, rooms),
    resume: ({ principal, execution, waitMs = RESUME_MS, signal = NEVER }) =>
      resume({ principal: principal.id, execution, waitMs, signal }, resumeRooms),
    readResult: (principal, handle, query) => results.read(principal.id, handle, query),
    findMedia: (principal, value) => findMedia(results, principal.id, value),
  };
}
