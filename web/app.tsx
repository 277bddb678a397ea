/** The page of a person who is logged in: which part is shown, and what every part shares. */

import { useEffect, useState } from "preact/hooks";

import type { SessionAnswer, StatusAnswer } from "../src/surfaces/admin/contract.ts";
import { ApiError } from "./api.ts";
import type { Api } from "./api.ts";
import { isBroken, useAttention } from "./attention.ts";
import { createLive } from "./live/live.ts";
import { useAnswer } from "./live/use-answer.ts";
import type { PageProps } from "./page-props.ts";
import { Frame, Problem } from "./parts/frame.tsx";
import type { Badge } from "./parts/frame.tsx";
import { Part } from "./pages/part.tsx";
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
  useEffect(() => {
    const isReachable = () =>
      api.session().then(
        () => true,
        (thrown: unknown) => !(thrown instanceof ApiError && thrown.kind === "away"),
      );
    createLive({ canPoll, isReachable }).start();
  }, []);
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

/** How many steps are done, until a client has made a real call and all are. */
function useSetupBadge(api: Api, status: StatusAnswer | undefined): Badge | undefined {
  const [isProved, setProved] = useState(false);
  const load = async () => {
    if (!status) return undefined;
    const { countSteps } = await import("./pages/setup/badge.ts");
    return countSteps(api, status);
  };
  const key = `setup ${status?.upstreams.map(({ state }) => state).join() ?? ""}`;
  const { value } = useAnswer(load, { key, topics: isProved ? [] : ["executions"] });
  useEffect(() => setProved(value?.isProved === true), [value?.isProved]);
  if (!value || value.done === value.all) return undefined;
  return { text: `${value.done}/${value.all}`, tone: "run", words: "steps are done" };
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
