/** What needs a person: in the title and the icon of the page, and as a notification while the page is hidden. */

import { useEffect, useState } from "preact/hooks";

import type { UpstreamAnswer } from "../src/surfaces/admin/contract.ts";
import { place } from "./router.ts";
import { findPage } from "./pages/pages.ts";

const BROKEN = ["failed", "suspended", "needs-login"];

export function isBroken({ state }: Pick<UpstreamAnswer, "state">): boolean {
  return BROKEN.includes(state);
}

interface WaitingCall {
  readonly id: string;
  readonly tool: string;
}

/** The count is in the title and the icon; a new call is notified if the page is hidden. */
export function useAttention(calls: readonly WaitingCall[]): void {
  const [known, setKnown] = useState<readonly string[]>();
  const ids = calls.map(({ id }) => id).join();
  const { path } = place.value;
  useEffect(() => {
    const name = findPage(path)?.page.link?.name;
    const title = name === undefined ? "Glovebox" : `${name} · Glovebox`;
    document.title = calls.length > 0 ? `(${calls.length}) ${title}` : title;
  }, [ids, path]);
  useEffect(() => {
    document.getElementById("icon")?.setAttribute("href", calls.length > 0 ? "/icon-wait.svg" : "/icon.svg");
    if (known && document.hidden && "Notification" in window && Notification.permission === "granted")
      for (const { id, tool } of calls) if (!known.includes(id)) notify(id, tool);
    setKnown(calls.map(({ id }) => id));
  }, [ids]);
}

function notify(id: string, tool: string): void {
  const notification = new Notification("A call waits for approval", { body: tool, tag: id });
  notification.addEventListener("click", () => {
    window.focus();
    location.assign(`/approvals/${id}`);
  });
}
