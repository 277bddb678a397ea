/** Loads an answer of the API for a page, and again when its topic has changed. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { Topic } from "../../src/surfaces/admin/contract.ts";
import { ApiError } from "../api.ts";
import { versions } from "./live.ts";

export interface Loaded<Answer> {
  /** The last good answer stays while a newer one fails. */
  readonly value?: Answer;
  readonly error?: ApiError;
  readonly reload: () => void;
}

/** `key` changes with what is asked for. While `isHeld` is true, a newer answer waits. */
export function useAnswer<Answer>(
  load: () => Promise<Answer>,
  {
    key,
    topics,
    isHeld = false,
  }: { readonly key: string; readonly topics: readonly Topic[]; readonly isHeld?: boolean },
): Loaded<Answer> {
  const [state, setState] = useState<{ readonly key: string; readonly value?: Answer; readonly error?: ApiError }>({
    key,
  });
  const [round, setRound] = useState(0);
  const version = topics.map((topic) => versions[topic].value).join(".");
  const latest = useRef(0);
  useEffect(() => {
    if (isHeld) return;
    latest.current += 1;
    const mine = latest.current;
    const isLatest = (): boolean => latest.current === mine;
    load().then(
      (value) => isLatest() && setState({ key, value }),
      (error: unknown) => isLatest() && setState((before) => ({ ...before, key, error: toApiError(error) })),
    );
  }, [key, version, round, isHeld]);
  const shown = state.key === key ? state : {};
  return { ...shown, reload: () => setRound((before) => before + 1) };
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError("refused", "The answer of the gateway is not readable. Load the page again.");
}
