/** Sends a change, says what went wrong, and loads what it changed. */

import { useState } from "preact/hooks";

export interface SentChange {
  readonly isSending: boolean;
  /** Empty after a change that was made. */
  readonly problem: string;
  /** Resolves to the answer, or to `undefined` if the change failed. */
  send<Answer>(change: () => Promise<Answer>): Promise<Answer | undefined>;
  forget(): void;
}

/** `onSettled` is called after every attempt: another person may have changed the same. */
export function useChange(onSettled: () => void = () => undefined): SentChange {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  return {
    isSending,
    problem,
    forget: () => setProblem(""),
    async send(change) {
      setSending(true);
      try {
        const answer = await change();
        setProblem("");
        return answer;
      } catch (thrown) {
        setProblem(thrown instanceof Error ? thrown.message : "Nothing was changed.");
        return undefined;
      } finally {
        setSending(false);
        onSettled();
      }
    },
  };
}
