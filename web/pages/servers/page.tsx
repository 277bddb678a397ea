/** Servers, the broken ones first with cause and next step, and definitions that wait for an operator. */

import { useState } from "preact/hooks";

import type { StatusAnswer, UpstreamAnswer, WithheldAnswer } from "../../../src/surfaces/admin/contract.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { State, Status } from "../../parts/status.tsx";
import { Command, Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";

type WithheldTool = WithheldAnswer["tools"][number];

const BROKEN = ["failed", "suspended", "needs-login"];

export function isBroken({ state }: UpstreamAnswer): boolean {
  return BROKEN.includes(state);
}

export function Page({ api, status, roles }: PageProps) {
  const { upstreams } = status;
  const isOperator = roles.includes("operator");
  const broken = upstreams.filter(isBroken);
  const sorted = [...broken, ...upstreams.filter((one) => !isBroken(one))];
  const tools = upstreams.reduce((sum, one) => sum + one.tools, 0);
  const attention = broken.length > 0 ? `, ${broken.length} need attention` : "";
  return (
    <>
      <Head title="Servers" sub={`${upstreams.length} servers, ${tools} tools${attention}`} />
      <div class="content">
        {sorted.length === 0 && (
          <Empty title="No servers">
            <p>Add one under `mcpServers` in the configuration, then start Glovebox again.</p>
            <Command text="glovebox doctor" />
          </Empty>
        )}
        {sorted.length > 0 && <Table upstreams={sorted} />}
        {isOperator && <Withheld api={api} />}
      </div>
    </>
  );
}

function Table({ upstreams }: { readonly upstreams: StatusAnswer["upstreams"] }) {
  return (
    <section aria-label="Servers">
      <table class="t stackable flush bleed">
        <thead>
          <tr>
            <th>Server</th>
            <th>State</th>
            <th>Confinement</th>
            <th class="num">Tools</th>
          </tr>
        </thead>
        <tbody>
          {upstreams.map((upstream) => (
            <Server key={upstream.name} upstream={upstream} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Server({ upstream }: { readonly upstream: UpstreamAnswer }) {
  const { name, state, transport, tools, cause, hint, stderr = [], confinement, withheld = 0 } = upstream;
  const refused = [...(confinement?.refusedHosts ?? []), ...(confinement?.missingFiles ?? [])];
  const hasMore = cause !== undefined || hint !== undefined || stderr.length > 0 || refused.length > 0;
  return (
    <>
      <tr class={hasMore ? "has-sub" : ""}>
        <td class="first">
          <b class="strong">{name}</b> <span class="muted small">{transport}</span>
        </td>
        <td class="second">
          <State name={state} />
          {withheld > 0 && <span class="muted small"> {withheld} withheld</span>}
        </td>
        <td>
          <Confinement {...{ transport, confinement }} />
        </td>
        <td class="num" data-l="tools">
          {tools}
        </td>
      </tr>
      {hasMore && (
        <tr class="sub">
          <td colSpan={4} class="wide">
            {cause !== undefined && <div class="cause">{cause}</div>}
            {refused.length > 0 && <div class="cause">Refused: {refused.join(", ")}</div>}
            <div class="next">
              {hint !== undefined && <span>{hint}</span>}
              {BROKEN.includes(state) && <code>glovebox servers restart {name}</code>}
            </div>
            {stderr.length > 0 && (
              <details>
                <summary>Last lines of its error output</summary>
                <pre class="block">
                  <Visible text={stderr.join("\n")} />
                </pre>
              </details>
            )}
          </td>
        </tr>
      )}
    </>
  );
}

function Confinement({ transport, confinement }: Pick<UpstreamAnswer, "transport" | "confinement">) {
  if (transport === "adapter") return <span class="muted small">in the gateway</span>;
  if (transport !== "stdio") return <span class="muted small">remote</span>;
  if (!confinement) return <Status tone="wait">off, it has your rights</Status>;
  return <Status tone="ok">{confinement.level}</Status>;
}

function Withheld({ api }: { readonly api: Api }) {
  const { value, error, reload } = useAnswer(() => api.withheld(), { key: "withheld", topics: ["servers"] });
  const tools = value?.tools ?? [];
  if (error) return <Problem message={error.message} />;
  if (tools.length === 0) return null;
  return (
    <section aria-labelledby="withheld">
      <div class="h">
        <h2 id="withheld">Withheld definitions</h2>
        <span class="muted small">Agents still get the definitions that were approved before.</span>
      </div>
      {tools.map((tool) => (
        <Definition key={`${tool.server} ${tool.tool} ${tool.digest}`} {...{ tool, api, reload }} />
      ))}
    </section>
  );
}

const REASONS: Readonly<Record<WithheldTool["why"], string>> = {
  new: "new tool",
  changed: "other definition",
  collides: "new tool with the name of another",
};

interface DefinitionProps {
  readonly tool: WithheldTool;
  readonly api: Api;
  readonly reload: () => void;
}

function Definition({ tool, api, reload }: DefinitionProps) {
  const { server, why, digest, seenAt, difference, suspicious = [], rejectedBy } = tool;
  const now = useNow();
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const decide = (verdict: "approve" | "reject"): void => {
    setSending(true);
    api
      .decideWithheld({ verdict, server, tool: tool.tool, digest })
      .then(
        () => setProblem(""),
        (error: unknown) => setProblem(error instanceof Error ? error.message : "Nothing was changed."),
      )
      .finally(() => {
        setSending(false);
        reload();
      });
  };
  return (
    <article class="panel" aria-label={`Withheld ${server} ${tool.tool}`}>
      <div class="panel-h">
        <code class="strong">
          {server}: <Visible text={tool.tool} />
        </code>
        <span class="muted small">
          {REASONS[why]}, seen <Ago at={seenAt} now={now} />
        </span>
        {suspicious.length > 0 && <span class="tag bad">suspicious text</span>}
        {rejectedBy !== undefined && <span class="tag line">rejected by {rejectedBy}</span>}
        <span class="end">
          <button class="btn small danger" type="button" disabled={isSending} onClick={() => decide("reject")}>
            Reject
          </button>
          <button class="btn small" type="button" disabled={isSending} onClick={() => decide("approve")}>
            Approve
          </button>
        </span>
      </div>
      {problem !== "" && <Problem message={problem} />}
      {suspicious.map((text) => (
        <div key={text} class="note bad">
          <Icon name="warn" />
          <div>
            <Visible text={text} />
          </div>
        </div>
      ))}
      <pre class="plain" tabIndex={0} aria-label="Difference">
        <Visible text={difference.join("\n")} />
      </pre>
    </article>
  );
}
