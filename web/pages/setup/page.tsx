/** Whether it really works: the last line is done only after a program of a client has called a tool. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { setupSchema } from "../../../src/surfaces/admin/contract/setup.ts";
import type { SetupAnswer } from "../../../src/surfaces/admin/contract/setup.ts";
import type { StatusAnswer } from "../../../src/surfaces/admin/contract.ts";
import { isBroken } from "../../attention.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Head, Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Command, CopyButton } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";
import { toSteps } from "./steps.ts";
import type { StepName } from "./steps.ts";

export function Page({ api, status }: PageProps) {
  const load = () => api.read(setupSchema, "/api/setup");
  const { value: setup, error } = useAnswer(load, { key: "setup", topics: ["executions"] });
  const steps = toSteps(status, setup);
  const count = steps.filter(({ isDone }) => isDone).length;
  const first = steps.find(({ isDone }) => !isDone)?.name;
  const texts: Readonly<Record<StepName, ComponentChildren>> = {
    gateway: (
      <>
        {location.origin}, version {status.version}
      </>
    ),
    isolation: <Isolation status={status} />,
    servers: <Servers status={status} />,
    call: <Call setup={setup} />,
  };
  return (
    <>
      <Head title="Setup" sub={`${count} of ${steps.length} done`} />
      <div class="content">
        {error && <Problem message={error.message} />}
        <section aria-label="Steps">
          <ol class="steps">
            {steps.map(({ name, isDone }) => (
              <Step key={name} {...{ name, isDone }} isNext={name === first}>
                {texts[name]}
              </Step>
            ))}
          </ol>
        </section>
        {!setup && !error && <Loading what="clients" />}
        {setup && <Clients setup={setup} />}
        {setup && setup.agents.length > 0 && <Agents agents={setup.agents} />}
      </div>
    </>
  );
}

const TITLES: Readonly<Record<StepName, string>> = {
  gateway: "The gateway is reachable",
  isolation: "Programs are isolated",
  servers: "Servers are connected",
  call: "A client has made a real call",
};

interface StepProps {
  readonly name: StepName;
  readonly isDone: boolean;
  readonly isNext: boolean;
  readonly children: ComponentChildren;
}

function Step({ name, isDone, isNext, children }: StepProps) {
  return (
    <li class={`${isDone ? "done" : ""} ${isNext ? "now" : ""}`} data-step={name}>
      <Icon name={isDone ? "done" : "wait"} />
      <div>
        <b class="strong">{TITLES[name]}</b>
        <span class="vh">{isDone ? " (done)" : " (open)"}</span>
        <div class="soft small">{children}</div>
      </div>
    </li>
  );
}

/** What protects, and for the lowest level what is missing. */
function Isolation({ status: { layers, isolation } }: { readonly status: StatusAnswer }) {
  const wanted = layers.filter(({ present }) => present === (isolation !== "process"));
  return (
    <>
      Level {isolation}: {wanted.map(({ name, message, hint = "" }) => `${name}: ${message}. ${hint}`.trim()).join(" ")}
      {isolation === "process" && <Command text="glovebox doctor" />}
    </>
  );
}

function Servers({ status: { upstreams } }: { readonly status: StatusAnswer }) {
  const ready = upstreams.filter(({ state }) => state === "ready").length;
  const broken = upstreams.filter(isBroken).map(({ name }) => name);
  if (upstreams.length === 0) {
    return (
      <>
        None is configured. Import those of your clients, or add one:
        <Command text="glovebox init" />
        <Command text="glovebox servers add URL" />
      </>
    );
  }
  return (
    <>
      {ready} of {upstreams.length} ready
      {broken.length > 0 &&
        `; ${broken.slice(0, 5).join(", ")} ${broken.length === 1 ? "needs" : "need"} attention`}.{" "}
      <a class="link" href="/servers">
        Servers
      </a>
    </>
  );
}

function Call({ setup }: { readonly setup: SetupAnswer | undefined }) {
  const now = useNow();
  const call = setup?.call;
  if (!call)
    return <>Connect a client below, then ask it for something that needs a tool. This line changes by itself.</>;
  return (
    <>
      {call.principal} called{" "}
      <a class="link" href={`/executions/${call.execution}`}>
        {call.tool}
      </a>{" "}
      <Ago at={call.at} now={now} />
    </>
  );
}

/** The first clients have a place of their own; the others are in the list. */
const SHOWN = ["claude-code", "cursor", "vscode", "codex"];

function Clients({ setup: { clients, mcp, needsLogin } }: { readonly setup: SetupAnswer }) {
  const [chosen, choose] = useState("claude-code");
  const client = clients.find(({ id }) => id === chosen);
  const sorted = clients.toSorted((a, b) => rank(a.id) - rank(b.id));
  return (
    <section aria-labelledby="add">
      <div class="h">
        <h2 id="add">Add a client</h2>
        <label class="end small soft" for="client">
          Client
        </label>
        <select
          id="client"
          class="select inline"
          value={chosen}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {sorted.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
          <option value="other">Any other client, over HTTP</option>
        </select>
      </div>
      {client && !needsLogin && <OnThisMachine client={client} />}
      <OverHttp mcp={mcp} needsLogin={needsLogin} isClaude={chosen === "claude-code"} />
    </section>
  );
}

function rank(id: string): number {
  const place = SHOWN.indexOf(id);
  return place < 0 ? SHOWN.length : place;
}

type Client = SetupAnswer["clients"][number];

function OnThisMachine({ client: { id, title, file, entry } }: { readonly client: Client }) {
  return (
    <div class="stack-s">
      <p class="soft">
        {title} on the machine of the gateway: this command adds the entry, imports its servers, and keeps a backup.
      </p>
      <Command text={`glovebox init --client ${id}`} />
      <div class="panel">
        <div class="panel-h">
          <h3>Or by hand</h3>
          <code class="muted small">{file}</code>
          <span class="end">
            <CopyButton text={entry} label={`Copy the entry for ${title}`} />
          </span>
        </div>
        <pre class="plain value" tabIndex={0} aria-label={`Entry for ${title}`}>
          {entry.trimEnd()}
        </pre>
      </div>
    </div>
  );
}

interface OverHttpProps {
  readonly mcp: string;
  readonly needsLogin: boolean;
  readonly isClaude: boolean;
}

function OverHttp({ mcp, needsLogin, isClaude }: OverHttpProps) {
  const entry = JSON.stringify({ mcpServers: { glovebox: { type: "http", url: mcp } } }, null, 2);
  return (
    <div class="stack-s">
      <p class="soft">
        Over HTTP{needsLogin && ", where the client opens a browser to log in"}
        {needsLogin ? ". A client that cannot needs an access token." : ":"}
      </p>
      {isClaude && <Command text={`claude mcp add --transport http glovebox ${mcp}`} />}
      <div class="panel">
        <div class="panel-h">
          <h3>Entry over HTTP</h3>
          <code class="muted small">mcp.json</code>
          <span class="end">
            <CopyButton text={entry} label="Copy the entry over HTTP" />
          </span>
        </div>
        <pre class="plain value" tabIndex={0} aria-label="Entry over HTTP">
          {entry}
        </pre>
      </div>
    </div>
  );
}

/** Agents that ran programs lately. */
function Agents({ agents }: { readonly agents: SetupAnswer["agents"] }) {
  const now = useNow();
  return (
    <section aria-labelledby="agents">
      <div class="h">
        <h2 id="agents">Clients that ran programs lately</h2>
      </div>
      <ul class="reads">
        {agents.map(({ principal, executions, latestAt }) => (
          <li key={principal}>
            <div class="row">
              <a class="link" href={`/executions?${new URLSearchParams({ principal }).toString()}`}>
                {principal}
              </a>
              <span class="muted small">
                {executions === 1 ? "1 execution" : `${executions} executions`}, the latest{" "}
                <Ago at={latestAt} now={now} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
