/** The browsers that are logged in: one's own, for an operator all. */

import { useState } from "preact/hooks";

import { sessionsSchema } from "../../../src/surfaces/admin/contract.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { ListedSession, PageProps } from "../../page-props.ts";
import { Head, Problem } from "../../parts/frame.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";
import { Passkeys } from "./passkeys.tsx";

export function Page({ api }: PageProps) {
  const { value, error, reload } = useAnswer(() => api.read(sessionsSchema, "/api/sessions"), {
    key: "sessions",
    topics: [],
  });
  const [problem, setProblem] = useState("");
  const end = (ending: Promise<unknown>): void => {
    ending
      .then(
        () => setProblem(""),
        (thrown: unknown) => setProblem(thrown instanceof Error ? thrown.message : "The session was not ended."),
      )
      .finally(reload);
  };
  return (
    <>
      <Head title="Sessions" sub="browsers that are logged in">
        <button class="btn danger" type="button" onClick={() => end(api.logOutEverywhere())}>
          Log out everywhere
        </button>
      </Head>
      <div class="content">
        {problem !== "" && <Problem message={problem} />}
        {error && <Problem message={error.message} />}
        <section aria-label="Sessions">
          <ul class="reads">
            {value?.sessions.map((session) => (
              <Session
                key={session.id}
                session={session}
                isCurrent={session.id === value.current}
                onEnd={() => end(api.endSession(session.id))}
              />
            ))}
          </ul>
        </section>
        <Passkeys api={api} />
      </div>
    </>
  );
}

interface SessionProps {
  readonly session: ListedSession;
  readonly isCurrent: boolean;
  readonly onEnd: () => void;
}

function Session({ session: { id, principal, origin, createdAt }, isCurrent, onEnd }: SessionProps) {
  const now = useNow();
  return (
    <li aria-label={id}>
      <div class="row">
        <b class="strong">
          {principal}
          {isCurrent && " (this browser)"}
        </b>
        <span class="muted">
          from <Visible text={origin} />, opened <Ago at={createdAt} now={now} />
        </span>
        <span class="end">
          <button class="btn small" type="button" aria-label={`End session ${id}`} onClick={onEnd}>
            End
          </button>
        </span>
      </div>
    </li>
  );
}
