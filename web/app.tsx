/** The page of a person who is logged in: which part is shown, and what every part shares. */

import { useEffect, useState } from "preact/hooks";

import { setupSchema } from "../src/surfaces/admin/contract/setup.ts";
import type { SessionAnswer, StatusAnswer } from "../src/surfaces/admin/contract.ts";
import type { Api, ApiError } from "./api.ts";
import { isBroken, useAttention } from "./attention.ts";
import { createLive } from "./live/live.ts";
import { useAnswer } from "./live/use-answer.ts";
import type { PageProps } from "./page-props.ts";
import { Frame, Problem } from "./parts/frame.tsx";
import type { Badge } from "./parts/frame.tsx";
import { Part } from "./pages/part.tsx";
import { toSteps } from "./pages/setup/steps.ts";
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
  const setup = useSetupBadge(api, status.value);
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
      badges={{
        "/approvals": toBadge(approvals.length, "wait", "waiting"),
        "/servers": toBadge(broken, "bad", "need attention"),
        "/setup": setup,
      }}
      roles={session.value?.roles ?? []}
      about={status.value ? describeGateway(status.value) : ""}
      person={session.value?.principal ?? ""}
      onLogOut={canLogIn ? () => void api.logOut().then(() => location.replace("/login")) : undefined}
    >
      {error && error.kind !== "session" && <Problem message={error.message} />}
      {status.value && session.value && <Part {...toPageProps(api, status.value, session.value)} path={path} />}
    </Frame>
  );
}

/** How many steps are done, until all are; then it is not asked for again. */
function useSetupBadge(api: Api, status: StatusAnswer | undefined): Badge | undefined {
  const [isDone, setDone] = useState(false);
  const load = () => api.read(setupSchema, "/api/setup");
  const { value } = useAnswer(load, { key: "setup", topics: ["executions"], isHeld: isDone });
  const steps = status && value ? toSteps(status, value) : [];
  const done = steps.filter((step) => step.isDone).length;
  const isProved = value?.call !== undefined;
  useEffect(() => setDone(isProved), [isProved]);
  if (done === steps.length) return undefined;
  return { text: `${done}/${steps.length}`, tone: "run", words: "steps are done" };
}

/** Without a count, a link has no badge. */
function toBadge(count: number, tone: Badge["tone"], words: string): Badge | undefined {
  return count === 0 ? undefined : { text: String(count), tone, words };
}

function toPageProps(api: Api, status: StatusAnswer, { roles }: SessionAnswer): PageProps {
  return { api, status, roles };
}

function describeGateway({ version, engine, isolation }: StatusAnswer): string {
  return `v${version}, isolation: ${isolation}, engine: ${engine}`;
}
