/** Servers, the broken ones first with cause and next step, and definitions that wait for an operator. */

import { useState } from "preact/hooks";

import type { StatusAnswer, UpstreamAnswer } from "../../../src/surfaces/admin/contract.ts";
import { isBroken } from "../../attention.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Head } from "../../parts/frame.tsx";
import { SearchBox } from "../../parts/list.tsx";
import { State, Status } from "../../parts/status.tsx";
import { Command, Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";
import { navigate, place, withQuery } from "../../router.ts";
import { ServerActions } from "./server-actions.tsx";
import type { Acting } from "./server-actions.tsx";
import { Withheld } from "./withheld.tsx";

/** From this number on, a field searches in the list. */
const MANY = 8;

export function Page({ api, status, roles }: PageProps) {
  const { upstreams } = status;
  const isOperator = roles.includes("operator");
  const broken = upstreams.filter(isBroken);
  const sorted = [...broken, ...upstreams.filter((one) => !isBroken(one))];
  const wanted = place.value.query.get("search") ?? "";
  const shown = sorted.filter(({ name, state }) => `${name} ${state}`.includes(wanted.trim().toLowerCase()));
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
        {sorted.length > MANY && (
          <div class="bar">
            <SearchBox
              id="search"
              label="Search servers"
              placeholder="Name or state"
              value={wanted}
              onText={(text) => navigate(withQuery("search", text), "replace")}
            />
          </div>
        )}
        {sorted.length > 0 && shown.length === 0 && <Empty title="No server matches" />}
        {shown.length > 0 && <Table upstreams={shown} acting={{ api, isOperator }} />}
        {isOperator && <Withheld api={api} />}
      </div>
    </>
  );
}

function Table({ upstreams, acting }: { readonly upstreams: StatusAnswer["upstreams"]; readonly acting: Acting }) {
  return (
    <section aria-label="Servers">
      <table class="t stackable flush bleed">
        <thead>
          <tr>
            <th>Server</th>
            <th>State</th>
            <th>Confinement</th>
            <th class="num">Tools</th>
            <th class="num">Since</th>
            <th>
              <span class="vh">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {upstreams.map((upstream) => (
            <Server key={upstream.name} upstream={upstream} acting={acting} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Server({ upstream, acting }: { readonly upstream: UpstreamAnswer; readonly acting: Acting }) {
  const now = useNow();
  const { name, state, transport, tools, since, cause, hint, stderr = [], confinement, withheld = 0 } = upstream;
  const { refusedHosts = [], missingFiles = [] } = confinement ?? {};
  const [isOpen, setOpen] = useState(false);
  const hasRefused = refusedHosts.length + missingFiles.length > 0;
  const hasMore = cause !== undefined || hint !== undefined || hasRefused || (isOpen && stderr.length > 0);
  return (
    <>
      <tr class={hasMore ? "has-sub" : ""}>
        <td class="first">
          <b class="strong">{name}</b> <span class="muted small">{transport}</span>
        </td>
        <td class="second">
          <State name={state} />
          {withheld > 0 && (
            <a class="link small" href="#withheld">
              {" "}
              {withheld} withheld
            </a>
          )}
        </td>
        <td>
          <Confinement {...{ transport, confinement }} />
        </td>
        <td class="num" data-l="tools">
          {tools}
        </td>
        <td class="num" data-l="since">
          <Ago at={since} now={now} />
        </td>
        <td class="wide">
          <span class="row tight">
            <ServerActions upstream={upstream} {...acting} />
            {stderr.length > 0 && (
              <button class="btn quiet small" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                Error output<span class="vh"> of {name}</span>
              </button>
            )}
          </span>
        </td>
      </tr>
      {hasMore && (
        <tr class="sub">
          <td colSpan={6} class="wide">
            <Cause upstream={upstream} />
            {isOpen && stderr.length > 0 && (
              <pre class="block" tabIndex={0} aria-label={`Error output of ${name}`}>
                <Visible text={stderr.join("\n")} />
              </pre>
            )}
          </td>
        </tr>
      )}
    </>
  );
}

/** Why it does not work, and the next step. */
function Cause({ upstream: { name, cause, hint, confinement } }: { readonly upstream: UpstreamAnswer }) {
  const { refusedHosts = [], missingFiles = [] } = confinement ?? {};
  return (
    <>
      {cause !== undefined && (
        <div class="cause">
          <Visible text={cause} />
        </div>
      )}
      {refusedHosts.length > 0 && (
        <Refused what="hosts" names={refusedHosts} setting={`mcpServers.${name}.networkPolicy.domains`} />
      )}
      {missingFiles.length > 0 && (
        <Refused what="files" names={missingFiles} setting={`mcpServers.${name}.files.read`} />
      )}
      {hint !== undefined && <div class="next">{hint}</div>}
    </>
  );
}

/** What confinement refused, and the setting that would allow it. */
function Refused(props: { readonly what: string; readonly names: readonly string[]; readonly setting: string }) {
  const { what, names, setting } = props;
  return (
    <div class="next">
      <span>
        Refused {what}: <Visible text={names.join(", ")} />. To allow them, add them to
      </span>{" "}
      <code>{setting}</code>
    </div>
  );
}

function Confinement({ transport, confinement }: Pick<UpstreamAnswer, "transport" | "confinement">) {
  if (transport === "adapter") return <span class="muted small">in the gateway</span>;
  if (transport !== "stdio") return <span class="muted small">remote</span>;
  if (!confinement) return <Status tone="wait">off, it has your rights</Status>;
  return <Status tone="ok">{confinement.level}</Status>;
}
