/** Whether it really works: the last line is done only after a program of a client has called a tool. */

import type { ComponentChildren } from "preact";

import type { StatusAnswer } from "../../../src/surfaces/admin/contract.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Head, Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Command } from "../../parts/text.tsx";
import { isBroken } from "../../attention.ts";

const LATEST = 20;
/** Executions of these are not those of a client. */
const OWN = ["operator", "library"];

export function Page({ api, status }: PageProps) {
  const { value: call, error } = useAnswer(() => findCall(api), { key: "setup", topics: ["executions"] });
  const ready = status.upstreams.filter(({ state }) => state === "ready").length;
  const broken = status.upstreams.filter(isBroken).map(({ name }) => name);
  const steps: readonly StepProps[] = [
    { isDone: true, title: "The gateway is reachable", children: `${location.origin}, version ${status.version}` },
    {
      isDone: status.isolation !== "process",
      title: "Programs are isolated",
      children: `Level ${status.isolation}: ${describeLayers(status)}`,
    },
    {
      isDone: ready > 0 && broken.length === 0,
      title: "Servers are connected",
      children: (
        <>
          {ready} of {status.upstreams.length} ready
          {broken.length > 0 && `; ${broken.join(", ")} need attention`}.{" "}
          <a class="link" href="/servers">
            Servers
          </a>
        </>
      ),
    },
    {
      isDone: call !== undefined && call.id !== undefined,
      title: "A client has made a real call",
      children:
        call?.id === undefined ? (
          "Ask your agent for something that needs a tool. This line changes by itself."
        ) : (
          <a class="link" href={`/executions/${call.id}`}>
            {call.tool} was called
          </a>
        ),
    },
  ];
  return (
    <>
      <Head title="Setup" sub={`${steps.filter(({ isDone }) => isDone).length} of ${steps.length} done`} />
      <div class="content">
        {error && <Problem message={error.message} />}
        <section aria-label="Steps">
          <ol class="steps">
            {steps.map((step) => (
              <Step key={step.title} {...step} />
            ))}
          </ol>
        </section>
        <Clients />
      </div>
    </>
  );
}

interface StepProps {
  readonly isDone: boolean;
  readonly title: string;
  readonly children: ComponentChildren;
}

function Step({ isDone, title, children }: StepProps) {
  return (
    <li class={isDone ? "" : "now"}>
      <Icon name={isDone ? "done" : "wait"} />
      <div>
        <b class="strong">{title}</b>
        <span class="vh">{isDone ? " (done)" : " (open)"}</span>
        <div class="soft small">{children}</div>
      </div>
    </li>
  );
}

/** What protects, and for the lowest level what is missing. */
function describeLayers({ layers, isolation }: StatusAnswer): string {
  const wanted = layers.filter(({ present }) => present === (isolation !== "process"));
  return wanted.map(({ name, message, hint = "" }) => `${name}: ${message}. ${hint}`.trim()).join(" ");
}

function Clients() {
  const address = `${location.origin}/mcp`;
  const entry = JSON.stringify({ mcpServers: { glovebox: { type: "http", url: address } } }, null, 2);
  return (
    <section aria-label="Add a client">
      <div class="h">
        <h2>Add a client</h2>
      </div>
      <p class="soft">Claude Code, with one command:</p>
      <Command text={`claude mcp add --transport http glovebox ${address}`} />
      <p class="soft">Other clients, in their `mcp.json`:</p>
      <pre class="block" tabIndex={0} aria-label="Entry for mcp.json">
        {entry}
      </pre>
    </section>
  );
}

/** The latest call that answered a client's program. */
async function findCall(api: Api): Promise<{ readonly id?: string; readonly tool?: string }> {
  const { executions } = await api.executions({ limit: LATEST });
  for (const { id, principal } of executions) {
    if (OWN.includes(principal)) continue;
    const call = (await api.execution(id)).result.calls.find(({ outcome }) => outcome === "ok");
    if (call) return { id, tool: call.tool };
  }
  return {};
}
