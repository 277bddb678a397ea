/** One version of a skill: its new reach first, then what changed, its tests and program, and the decision beside it. */

import { skillReviewSchema } from "../../../src/surfaces/admin/contract/skills.ts";
import type { SkillReviewAnswer } from "../../../src/surfaces/admin/contract/skills.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Code } from "../../parts/code.tsx";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Status, Tag } from "../../parts/status.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, formatTime, useNow } from "../../parts/time.tsx";
import { place } from "../../router.ts";
import { SkillState } from "../skills/state.tsx";
import { Changes } from "./changes.tsx";
import { SkillDecision } from "./decision.tsx";

export function Page({ api, id }: PageProps & { readonly id: string }) {
  const version = place.value.query.get("version") ?? undefined;
  const { value, error, reload } = useAnswer(
    () => api.read(skillReviewSchema, `/api/skills/${encodeURIComponent(id)}`, { version }),
    { key: `${id} ${version}`, topics: ["skills"] },
  );
  const title = (
    <>
      <a href="/skills">Skills</a>
      <span aria-hidden="true">/</span>
      <h1 class="mono">{id}</h1>
    </>
  );
  return (
    <>
      <Head title={title} sub={value ? `version ${value.version}` : ""}>
        {value && <SkillState version={value} />}
      </Head>
      <div class="content split">
        <div class="main">
          {error && value && <Problem message={error.message} />}
          {error && !value && (
            <Empty title="This skill cannot be shown">
              <p>{error.message}</p>
              <a class="btn" href="/skills">
                All skills
              </a>
            </Empty>
          )}
          {!value && !error && <Loading what="the version; its tests are replayed" />}
          {value && <Review review={value} />}
        </div>
        {value && <SkillDecision key={value.digest + value.state} review={value} api={api} onDecided={reload} />}
      </div>
    </>
  );
}

function Review({ review }: { readonly review: SkillReviewAnswer }) {
  const { description, frozen, similar, findings, files } = review;
  const program = files["skill.ts"] ?? files["skill.js"];
  return (
    <article class="stack" aria-label={`Skill ${review.name}`}>
      <section aria-labelledby="what">
        <h2 id="what" class="vh">
          What it is
        </h2>
        <p class="prose">
          <Visible text={description} />
        </p>
        <Facts review={review} />
        {frozen !== undefined && (
          <div class="note bad">
            <Icon name="warn" />
            <div>
              <b class="strong">Frozen: programs cannot call it.</b> <Visible text={frozen} />
            </div>
          </div>
        )}
        {similar.map(({ name, description: text, why }) => (
          <div key={name} class="note wait">
            <Icon name="info" />
            <div>
              <Visible text={`${name} is similar (${why}): ${text}`} />
            </div>
          </div>
        ))}
      </section>
      <Reach review={review} />
      <Tests review={review} />
      <Changes review={review} />
      {program !== undefined && (
        <section aria-labelledby="program">
          <div class="h">
            <h2 id="program">What it runs</h2>
            <span class="muted small">its program, with what the analysis found</span>
          </div>
          <Code source={program} findings={findings} />
        </section>
      )}
      <Shapes review={review} />
    </article>
  );
}

function Facts({ review }: { readonly review: SkillReviewAnswer }) {
  const now = useNow();
  const { address, author, createdAt, origin, digest, license, approval, decidedBy, note } = review;
  return (
    <dl class="kv small">
      <dt>In programs</dt>
      <dd>
        <code>
          <Visible text={address} />
        </code>
      </dd>
      <dt>From</dt>
      <dd>
        <Visible text={`${author}, ${typeof origin["kind"] === "string" ? origin["kind"] : "unknown origin"}`} />,{" "}
        <Ago at={createdAt} now={now} />
        {license !== undefined && (
          <>
            , <Visible text={license} />
          </>
        )}
      </dd>
      <dt>Digest</dt>
      <dd class="mono any">{digest}</dd>
      {approval && (
        <>
          <dt>Approved</dt>
          <dd>
            <Visible text={approval.reviewer} />, {formatTime(approval.at)}
            {approval.selfReviewed && " (by its author)"}
          </dd>
        </>
      )}
      {decidedBy !== undefined && decidedBy !== approval?.reviewer && (
        <>
          <dt>Decided</dt>
          <dd>
            <Visible text={decidedBy} />
          </dd>
        </>
      )}
      {note !== undefined && (
        <>
          <dt>Note</dt>
          <dd>
            <Visible text={note} />
          </dd>
        </>
      )}
    </dl>
  );
}

/** What it may touch; what is new is said first. */
function Reach({ review: { grants, changes, plan } }: { readonly review: SkillReviewAnswer }) {
  const fresh = grants.filter(({ change }) => change !== "same").length;
  return (
    <section aria-labelledby="reach">
      <div class="h">
        <h2 id="reach">Reach</h2>
        <span class="muted small">
          {changes.since === undefined
            ? "first version: everything is new"
            : `${fresh} new or changed since version ${changes.since}`}
        </span>
      </div>
      {grants.length === 0 && <p class="soft">It may call no tool.</p>}
      <ul class="reads">
        {grants.map(({ id, kind, name, reason, pin, change, decision }) => (
          <li key={id}>
            <div class="row">
              <code class="strong">
                <Visible text={name} />
              </code>
              {pin ? <Tag name={pin.effect} /> : <span class="tag line">{kind}</span>}
              {change !== "same" && <span class="tag wait">{change}</span>}
              {decision === "refused" && <span class="tag bad">refused</span>}
              {pin && (
                <span class="muted small">
                  <Visible text={`${pin.connector}: ${pin.remoteName}`} />
                </span>
              )}
            </div>
            <p class="soft">
              <Visible text={reason === "" ? "no reason was given" : reason} />
            </p>
          </li>
        ))}
      </ul>
      {changes.removedGrants.length > 0 && (
        <p class="small muted">
          No longer asks for: <Visible text={changes.removedGrants.join(", ")} />
        </p>
      )}
      <p class="small muted">
        {plan.exact ? "The program can call exactly these:" : "The program may compute what it calls. It names:"}{" "}
        <Visible
          text={plan.calls.map(({ tool, times }) => (times === "many" ? `${tool} (in a loop)` : tool)).join(", ")}
        />
        {plan.calls.length === 0 && "nothing"}
      </p>
    </section>
  );
}

function Tests({ review: { tests } }: { readonly review: SkillReviewAnswer }) {
  return (
    <section aria-labelledby="tests">
      <div class="h">
        <h2 id="tests">Tests</h2>
        <span class="muted small">recorded executions, replayed just now without any tool</span>
      </div>
      {tests.length === 0 && (
        <div class="note wait">
          <Icon name="warn" />
          <div>It has no tests: only the program tells what it does.</div>
        </div>
      )}
      <ul class="reads">
        {tests.map(({ file, calls, runs }) => (
          <li key={file}>
            <div class="row">
              <code>
                <Visible text={file} />
              </code>
              <span class="muted small">{calls} calls</span>
              {runs.map(({ engine, problem }) => (
                <Status key={engine} tone={problem === undefined ? "ok" : "bad"}>
                  {engine}
                </Status>
              ))}
            </div>
            {runs.map(
              ({ engine, problem }) =>
                problem !== undefined && (
                  <p key={engine} class="cause">
                    <Visible text={problem} />
                  </p>
                ),
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Shapes({ review: { input, output } }: { readonly review: SkillReviewAnswer }) {
  return (
    <section aria-labelledby="shapes">
      <div class="h">
        <h2 id="shapes">Input and output</h2>
      </div>
      <div class="halves">
        <pre class="block" tabIndex={0} aria-label="Input schema">
          {toPlainJson(input, 2)}
        </pre>
        <pre class="block" tabIndex={0} aria-label="Output schema">
          {output === null ? "not declared" : toPlainJson(output, 2)}
        </pre>
      </div>
    </section>
  );
}
