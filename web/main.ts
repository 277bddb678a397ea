/** The admin page: polls the gateway every few seconds and shows its state. */

import { findNamed, renderApprovals } from "./approvals.ts";
import { ApiError, createApi } from "./api.ts";
import type { Api } from "./api.ts";
import { element, show } from "./element.ts";
import { renderLogin } from "./login.ts";
import { hasPasskeys, renderPasskeys } from "./passkeys.ts";
import { renderSessions } from "./sessions.ts";
import { askForLogin } from "./step-up.ts";
import { createToolSearch } from "./tool-search.ts";
import { renderEntrance, renderExecutions, renderHeader, renderIsolation, renderUpstreams } from "./views.ts";

const REFRESH_MS = 3_000;
const SHOWN_EXECUTIONS = 25;

const header = findElement("header");
const content = findElement("content");

/** The parts that are replaced; the search box is not one of them. */
const parts = {
  notice: element("div", { role: "status" }),
  /** Why the last change failed. Stays until the next change. */
  problem: element("div", { role: "status" }),
  isolation: element("div"),
  approvals: element("div", { "aria-live": "polite" }),
  upstreams: element("div"),
  executions: element("div"),
  sessions: element("div"),
  passkeys: element("div"),
};

/** Whether people log in here; otherwise `glovebox open` is the only way. */
let canLogIn = false;
let canUsePasskeys = false;
const NO_LOGINS = { password: false, providers: [] };

void open();

async function open(): Promise<void> {
  const code = takeCode();
  show(header, ...renderHeader(undefined));
  const api = createApi(() => askForLogin(api, canUsePasskeys));
  const logins = await api.findLogins().catch(() => NO_LOGINS);
  canLogIn = logins.password;
  canUsePasskeys = hasPasskeys(logins);
  if (canLogIn && location.pathname === "/login") return renderLogin(content, api, logins);
  if (code !== undefined) await api.enter(code).catch(() => undefined); // a session from before still counts
  const tools = createToolSearch((query, signal) => api.tools(query, signal));
  content.replaceChildren(
    parts.notice,
    parts.problem,
    parts.isolation,
    createSection("Waiting for approval", parts.approvals),
    element("div", { class: "columns" }, createSection("Servers", parts.upstreams), createSection("Tools", tools)),
    createSection("Recent executions", parts.executions),
    createSection("Sessions", parts.sessions),
    ...(canUsePasskeys ? [createSection("Passkeys", parts.passkeys)] : []),
  );
  void keepFresh(api);
}

/** The one-time code. It arrives in the fragment of the address, which a browser does not send, and is removed at once. */
function takeCode(): string | undefined {
  const sent = new URLSearchParams(location.hash.slice(1)).get("code");
  if (sent === null || sent === "") return undefined;
  history.replaceState(null, "", location.pathname);
  return sent;
}

/** Never polls twice at once, not in a hidden tab, and not during a login, which replaces the session. */
async function keepFresh(api: Api): Promise<void> {
  for (;;) {
    const isBusy = document.hidden || document.querySelector("dialog[open]") !== null;
    const isLetIn = isBusy || (await refresh(api));
    if (!isLetIn) return;
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  }
}

/** Returns false without a session; then polling ends. */
async function refresh(api: Api): Promise<boolean> {
  try {
    const [status, { executions }] = await Promise.all([api.status(), api.executions(SHOWN_EXECUTIONS)]);
    const [approvals, sessions] = await Promise.all([findApprovals(api), api.sessions()]);
    const waiting = approvals.filter(({ state }) => state === "pending").length;
    document.title = waiting > 0 ? `(${waiting}) Glovebox` : "Glovebox";
    show(header, ...renderHeader(status), ...(canLogIn ? [createLogout(api)] : []));
    show(parts.notice);
    show(parts.isolation, ...renderIsolation(status));
    const again = (problem?: string): void => {
      showWarning(parts.problem, problem);
      void refresh(api);
    };
    show(parts.approvals, ...renderApprovals(approvals, api, again));
    show(parts.upstreams, renderUpstreams(status.upstreams));
    show(parts.executions, renderExecutions(executions, Date.now()));
    show(parts.sessions, ...renderSessions(sessions, api, again));
    if (canUsePasskeys) show(parts.passkeys, ...renderPasskeys(await api.passkeys(), api, again));
    return true;
  } catch (error) {
    return showTrouble(error);
  }
}

/** The one that the address names, or all that wait. */
async function findApprovals(api: Api) {
  const named = findNamed(location.pathname);
  return named === undefined ? (await api.approvals()).approvals : [(await api.approval(named)).approval];
}

function showWarning(part: HTMLElement, message?: string): void {
  show(part, ...(message === undefined ? [] : [element("p", { class: "card warning" }, message)]));
}

function showTrouble(error: unknown): boolean {
  if (error instanceof ApiError && error.kind === "session") {
    if (canLogIn) goToLogin();
    else show(content, renderEntrance(error.message));
    return false;
  }
  const message = error instanceof ApiError ? error.message : "The answer of the gateway is not readable.";
  showWarning(parts.notice, message);
  return true;
}

function goToLogin(): void {
  const here = location.pathname + location.search;
  location.replace(here === "/" ? "/login" : `/login?${new URLSearchParams({ next: here }).toString()}`);
}

function createLogout(api: Api): HTMLElement {
  const button = element("button", { type: "button" }, "Log out");
  button.addEventListener("click", () => void api.logOut().then(() => location.replace("/login")));
  return button;
}

function createSection(title: string, body: HTMLElement): HTMLElement {
  return element("section", { class: "card", "aria-label": title }, element("h2", {}, title), body);
}

function findElement(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new TypeError(`The page has no element ${id}`);
  return found;
}
