/** The page of a person who is logged in: which part is shown, and what every part shares. */

import { useEffect, useState } from "preact/hooks";

import type { SessionAnswer, StatusAnswer } from "../src/surfaces/admin/contract.ts";
import type { Api, ApiError } from "./api.ts";
import { createLive } from "./live/live.ts";
import { useAnswer } from "./live/use-answer.ts";
import type { PageProps } from "./page-props.ts";
import { Empty, Frame, Head, Problem } from "./parts/frame.tsx";
import { ApprovalPage } from "./pages/approval.tsx";
import { ApprovalsPage } from "./pages/approvals.tsx";
import { ExecutionPage } from "./pages/execution.tsx";
import { ExecutionsPage } from "./pages/executions.tsx";
import { LedgerPage } from "./pages/ledger.tsx";
import { ServersPage, isBroken } from "./pages/servers.tsx";
import { SessionsPage } from "./pages/sessions.tsx";
import { SetupPage } from "./pages/setup.tsx";
import { ToolsPage } from "./pages/tools.tsx";
import { place } from "./router.ts";

interface AppProps {
  readonly api: Api;
  readonly canLogIn: boolean;
  /** Called without a session. */
  readonly onNoSession: (error: ApiError) => void;
}

/** Not during a login, which replaces the session, and not in a hidden tab. */
const canPoll = (): boolean => !document.hidden && document.querySelector("dialog[open]") === null;

export function App({ api, canLogIn, onNoSession }: AppProps) {
  const session = useAnswer(() => api.session(), { key: "session", topics: ["servers", "approvals"] });
  const status = useAnswer(() => api.status(), { key: "status", topics: ["servers"] });
  const waiting = useAnswer(() => api.approvals(), { key: "waiting", topics: ["approvals"] });
  const error = session.error ?? status.error ?? waiting.error;
  useEffect(() => {
    if (error?.kind === "session") onNoSession(error);
  }, [error]);
  useEffect(() => createLive({ canPoll }).start(), []);
  const approvals = waiting.value?.approvals ?? [];
  useAttention(approvals.map(({ id, tool }) => ({ id, tool })));
  const { path } = place.value;
  const broken = status.value?.upstreams.filter(isBroken).length ?? 0;
  return (
    <Frame
      path={path}
      counts={{ approvals: approvals.length, servers: broken }}
      about={status.value ? describeGateway(status.value) : ""}
      person={session.value?.principal ?? ""}
      onLogOut={canLogIn ? () => void api.logOut().then(() => location.replace("/login")) : undefined}
    >
      {error && error.kind !== "session" && <Problem message={error.message} />}
      {status.value && session.value && <Part {...toPageProps(api, status.value, session.value)} path={path} />}
    </Frame>
  );
}

function toPageProps(api: Api, status: StatusAnswer, { roles }: SessionAnswer): PageProps {
  return { api, status, roles };
}

function describeGateway({ version, engine, isolation }: StatusAnswer): string {
  return `v${version}, isolation: ${isolation}, engine: ${engine}`;
}

/** The part that the address names. */
function Part({ path, ...props }: PageProps & { readonly path: string }) {
  const [, name = "", id = ""] = path.split("/");
  switch (name) {
    case "":
    case "approvals":
      return id === "" ? <ApprovalsPage {...props} /> : <ApprovalPage {...props} id={id} />;
    case "executions":
      return id === "" ? <ExecutionsPage {...props} /> : <ExecutionPage {...props} id={id} />;
    case "servers":
      return <ServersPage {...props} />;
    case "tools":
      return <ToolsPage {...props} />;
    case "ledger":
      return <LedgerPage {...props} />;
    case "sessions":
      return <SessionsPage {...props} />;
    case "setup":
      return <SetupPage {...props} />;
    default:
      return <NotFound />;
  }
}

function NotFound() {
  return (
    <>
      <Head title="This page does not exist" />
      <div class="content">
        <Empty title="Nothing is here">
          <a class="btn" href="/approvals">
            Approvals
          </a>
        </Empty>
      </div>
    </>
  );
}

interface WaitingCall {
  readonly id: string;
  readonly tool: string;
}

/** The count is in the title and the icon; a new call is announced, and notified if the page is hidden. */
function useAttention(calls: readonly WaitingCall[]): void {
  const [known, setKnown] = useState<readonly string[]>();
  const ids = calls.map(({ id }) => id).join();
  useEffect(() => {
    document.title = calls.length > 0 ? `(${calls.length}) Glovebox` : "Glovebox";
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
