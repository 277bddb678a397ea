/** The admin page: polls the gateway every few seconds and shows its state. */

import { ApiError, createApi } from "./api.ts";
import type { Api } from "./api.ts";
import { element, show } from "./element.ts";
import { createToolSearch } from "./tool-search.ts";
import { renderEntrance, renderExecutions, renderHeader, renderIsolation, renderUpstreams } from "./views.ts";

const REFRESH_MS = 3_000;
const SHOWN_EXECUTIONS = 25;
const TOKEN_KEY = "glovebox.token";

const header = findElement("header");
const content = findElement("content");

/** The parts that a refresh replaces; the search box is not one of them. */
const parts = {
  notice: element("div", { role: "status" }),
  isolation: element("div"),
  upstreams: element("div"),
  executions: element("div"),
};

open();

function open(): void {
  const token = takeToken();
  show(header, ...renderHeader(undefined));
  if (token === undefined) return show(content, renderEntrance("It was opened without a token."));
  const api = createApi(token);
  const tools = createToolSearch((query, signal) => api.tools(query, signal));
  content.replaceChildren(
    parts.notice,
    parts.isolation,
    element("div", { class: "columns" }, createSection("Servers", parts.upstreams), createSection("Tools", tools)),
    createSection("Recent executions", parts.executions),
  );
  void keepFresh(api);
}

/**
 * The token of this start. It arrives in the fragment of the address, which a browser does not send, and moves at once
 * from the address bar into the memory of this tab. One in the URL takes precedence over a remembered one.
 */
function takeToken(): string | undefined {
  const sent = new URLSearchParams(location.hash.slice(1)).get("token");
  if (sent === null || sent === "") return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
  sessionStorage.setItem(TOKEN_KEY, sent);
  history.replaceState(null, "", location.pathname);
  return sent;
}

/** Never polls twice at once, and not in a hidden tab. */
async function keepFresh(api: Api): Promise<void> {
  for (;;) {
    const isLetIn = document.hidden || (await refresh(api));
    if (!isLetIn) return;
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  }
}

/** Returns false when the token is refused; then polling ends. */
async function refresh(api: Api): Promise<boolean> {
  try {
    const [status, { executions }] = await Promise.all([api.status(), api.executions(SHOWN_EXECUTIONS)]);
    show(header, ...renderHeader(status));
    show(parts.notice);
    show(parts.isolation, ...renderIsolation(status));
    show(parts.upstreams, renderUpstreams(status.upstreams));
    show(parts.executions, renderExecutions(executions, Date.now()));
    return true;
  } catch (error) {
    return showTrouble(error);
  }
}

function showTrouble(error: unknown): boolean {
  if (error instanceof ApiError && error.kind === "token") {
    sessionStorage.removeItem(TOKEN_KEY); // it belongs to an earlier start
    show(content, renderEntrance(error.message));
    return false;
  }
  const message = error instanceof ApiError ? error.message : "The answer of the gateway is not readable.";
  show(parts.notice, element("p", { class: "card warning" }, message));
  return true;
}

function createSection(title: string, body: HTMLElement): HTMLElement {
  return element("section", { class: "card", "aria-label": title }, element("h2", {}, title), body);
}

function findElement(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new TypeError(`The page has no element ${id}`);
  return found;
}
