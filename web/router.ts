/** Addresses of the page: a click on a link of this page changes what is shown, without a request for a document. */

import { signal } from "@preact/signals";

interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const readPlace = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

export const place = signal<Place>(readPlace());

/** Replaces the present entry of the history if only the filter of a list changes. */
export function navigate(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  place.value = readPlace();
}

/** Starts to follow links and the buttons of the browser. */
export function followLinks(): void {
  window.addEventListener("popstate", () => (place.value = readPlace()));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.origin !== location.origin) return;
    if (link.hasAttribute("download")) return;
    if (link.hash !== "" && link.pathname === location.pathname) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
    window.scrollTo(0, 0);
    document.getElementById("content")?.focus({ preventScroll: true });
  });
}

/** The address of this page with another value of its query; an empty one is left out. */
export function withQuery(name: string, value: string): string {
  const query = new URLSearchParams(location.search);
  if (value === "") query.delete(name);
  else query.set(name, value);
  const text = query.toString();
  return text === "" ? location.pathname : `${location.pathname}?${text}`;
}
