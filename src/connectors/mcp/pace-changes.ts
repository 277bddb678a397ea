/** Limits how often a server makes the gateway list its tools again. */

import type { Instant } from "../../domain/index.ts";
import { backoffMs } from "../../timing/index.ts";

const PAUSE = { firstMs: 100, longestMs: 30_000 };

/**
 * Passes announcements of changed tools on to `onChange`: at once if the server was quiet before, and with a pause that
 * doubles while it continues to announce. A server is quiet again when it announced nothing for as long as its last
 * pause. No change is lost: an announcement during a pause is passed on at its end.
 */
export function paceChanges({ now, onChange }: { readonly now: () => Instant; readonly onChange: () => void }) {
  let passed = 0;
  let passedAt = Number.NEGATIVE_INFINITY;
  let announcedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const pass = (): void => {
    timer = undefined;
    passed += 1;
    passedAt = now();
    onChange();
  };

  return {
    /** `isDue` if the tools will be listed anyway. */
    announce: (isDue: boolean): void => {
      const at = now();
      const quietMs = at - announcedAt;
      announcedAt = at;
      if (timer || isDue) return;
      if (quietMs >= backoffMs(passed, PAUSE)) passed = 0;
      const pauseMs = backoffMs(passed, PAUSE);
      // At most one pause, also after the clock was set back.
      const waitMs = Math.min(passedAt + pauseMs - at, pauseMs);
      if (waitMs <= 0) return pass();
      timer = setTimeout(pass, waitMs);
      timer.unref();
    },
    stop: (): void => clearTimeout(timer),
  };
}
