/** What was done, in one sentence, until the next change. */

import type { ComponentChildren } from "preact";

import { Icon } from "./icon.tsx";

export function Done({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="note ok" role="status">
      <Icon name="done" />
      <div>{children}</div>
    </div>
  );
}

/** Grey lines while an answer is on its way; they appear after a moment, so that a quick answer does not flash. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="panel late" aria-busy="true">
      <div class="panel-b stack">
        <span class="skeleton w2" />
        <span class="skeleton w3" />
        <span class="skeleton w1" />
        <span class="vh">Loading {what}</span>
      </div>
    </div>
  );
}
