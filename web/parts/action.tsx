/** A button for one change: it waits for the answer and says what went wrong. Nothing is shown as done before it is. */

import { useEffect, useRef, useState } from "preact/hooks";

interface ActionProps {
  readonly label: string;
  /** What the second press does; without it the first press is enough. */
  readonly confirm?: string;
  readonly tone?: "primary" | "danger" | "quiet";
  readonly isSmall?: boolean;
  readonly isDisabled?: boolean;
  /** For those who do not see what the button belongs to. */
  readonly about?: string;
  readonly run: () => Promise<unknown>;
}

/** How long the second press is offered. */
const ASK_MS = 8_000;

export function ActionButton({ label, confirm, tone, isSmall = false, isDisabled = false, about, run }: ActionProps) {
  const [step, setStep] = useState<"idle" | "asked" | "sending">("idle");
  const [problem, setProblem] = useState("");
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);
  useEffect(() => {
    if (step !== "asked") return undefined;
    const timer = setTimeout(() => setStep("idle"), ASK_MS);
    return () => clearTimeout(timer);
  }, [step]);
  const press = (): void => {
    setProblem("");
    if (confirm !== undefined && step === "idle") return setStep("asked");
    setStep("sending");
    run()
      .catch((error: unknown) => {
        if (isShown.current) setProblem(error instanceof Error ? error.message : "Nothing was changed.");
      })
      .finally(() => {
        if (isShown.current) setStep("idle");
      });
  };
  const isAsked = step === "asked" && confirm !== undefined;
  const kind = isAsked ? "danger" : (tone ?? "");
  return (
    <>
      <button
        class={`btn ${isSmall ? "small" : ""} ${kind}`}
        type="button"
        disabled={isDisabled || step === "sending"}
        aria-busy={step === "sending"}
        onClick={press}
      >
        {isAsked ? confirm : label}
        {about !== undefined && <span class="vh"> {about}</span>}
      </button>
      {problem !== "" && (
        <span class="cause small" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
