/** Searches tools exactly as a model does, and shows their declarations. */

import { useEffect, useState } from "preact/hooks";

import { declarationsSchema, toolsSchema } from "../../../src/surfaces/admin/contract/tools.ts";
import type { ToolsAnswer } from "../../../src/surfaces/admin/contract/tools.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Code } from "../../parts/code.tsx";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Pager, SearchBox } from "../../parts/list.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Tag } from "../../parts/status.tsx";
import { CopyButton, Visible } from "../../parts/text.tsx";
import { useKey } from "../../parts/use-rows.ts";
import { navigate, place, withQuery } from "../../router.ts";

/** Delay between the last key stroke and the search. */
const PAUSE_MS = 150;

type Tool = ToolsAnswer["tools"][number];

export function Page({ api, status, roles }: PageProps) {
  const query = place.value.query.get("query") ?? "";
  const [text, setText] = useState(query);
  useKey("/", () => document.getElementById("query")?.focus());
  useEffect(() => {
    if (text.trim() === query) return undefined;
    const timer = setTimeout(() => navigate(withQuery("query", text.trim()), "replace"), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const load = () => api.read(toolsSchema, "/api/tools", { query });
  const { value, error } = useAnswer(load, { key: query, topics: ["servers"] });
  const [more, setMore] = useState<ToolsAnswer>();
  useEffect(() => setMore(undefined), [query, value]);
  const tools = [...(value?.tools ?? []), ...(more?.tools ?? [])];
  const cursor = more ? more.cursor : value?.cursor;
  const showMore = async (): Promise<void> => {
    const page = await api.read(toolsSchema, "/api/tools", { query, cursor });
    setMore({ ...page, tools: [...(more?.tools ?? []), ...page.tools] });
  };
  const all = status.upstreams.reduce((sum, one) => sum + one.tools, 0);
  return (
    <>
      <Head title="Tools" sub={`${all} tools; agents get one page at a time, the best first`}>
        {roles.includes("operator") && (
          <a class="btn" href="/playground">
            Playground
          </a>
        )}
      </Head>
      <div class="content">
        <div class="bar">
          <SearchBox
            id="query"
            label="Search tools"
            placeholder="What should a tool do? For example: list issues"
            value={text}
            onText={setText}
            shortcut="/"
          />
        </div>
        {error && <Problem message={error.message} />}
        {!value && !error && <Loading what="tools" />}
        <section aria-label="Tools" aria-live="polite">
          {value && tools.length === 0 && <NoTool isQuery={query !== ""} />}
          <ul class="reads tools-list">
            {tools.map((tool) => (
              <Found key={tool.name} tool={tool} api={api} />
            ))}
          </ul>
          {cursor !== undefined && <Pager text={`${tools.length} tools`} onOlder={showMore} label="More" />}
        </section>
        {value && <ModelText answer={value} />}
      </div>
    </>
  );
}

function NoTool({ isQuery }: { readonly isQuery: boolean }) {
  if (isQuery) return <Empty title="No tool matches." />;
  return (
    <Empty title="No tools">
      <p>No server has listed a tool yet.</p>
      <a class="btn" href="/servers">
        Servers
      </a>
    </Empty>
  );
}

/** Without an entry, the server states the effect. */
const SOURCES: Readonly<Record<string, string>> = {
  guess: "guessed from its name",
  reviewed: "reviewed by Glovebox",
  operator: "set in the configuration",
};

function Found({ tool, api }: { readonly tool: Tool; readonly api: Pick<Api, "read"> }) {
  const { name, effect, effectSource = "", labels = [], summary, server, upstreamName, signature } = tool;
  const [isOpen, setOpen] = useState(false);
  const source = SOURCES[effectSource];
  return (
    <li>
      <div class="row">
        <button
          class="row-link strong"
          type="button"
          aria-expanded={isOpen}
          aria-label={`Declaration of ${name}`}
          onClick={() => setOpen(!isOpen)}
        >
          <code>{name}</code>
        </button>
        <Tag name={effect} />
        {labels.map((label) => (
          <Tag key={label} name={label} />
        ))}
        <span class="muted small">
          {server}: <Visible text={upstreamName} />
          {source !== undefined && `, effect ${source}`}
        </span>
        <span class="end">
          <a
            class="link small"
            href={`/executions?${new URLSearchParams({ tool: name }).toString()}`}
            aria-label={`Executions that called ${name}`}
          >
            Executions
          </a>
        </span>
      </div>
      <p class="soft">
        <Visible text={summary} />
      </p>
      {signature !== undefined && !isOpen && (
        <code class="signature small">
          <Visible text={signature} />
        </code>
      )}
      {isOpen && <Declaration name={name} api={api} />}
    </li>
  );
}

function Declaration({ name, api }: { readonly name: string; readonly api: Pick<Api, "read"> }) {
  const load = () => api.read(declarationsSchema, "/api/tools/declarations", { names: name, detail: "full" });
  const { value, error } = useAnswer(load, { key: name, topics: [] });
  if (error) return <Problem message={error.message} />;
  if (!value) return null;
  return (
    <div class="panel">
      <div class="panel-h">
        <h2>Declaration</h2>
        <span class="muted small">what describe answers</span>
        <span class="end">
          <CopyButton text={value.declarations} label="Copy the declaration" />
        </span>
      </div>
      <Code source={value.declarations} />
    </div>
  );
}

/** The answer of `search`, to the letter. */
function ModelText({ answer: { text, tokens } }: { readonly answer: ToolsAnswer }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section>
      <details class="filters" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>The answer that a model reads, about {tokens} tokens</summary>
        {isOpen && (
          <pre class="block" tabIndex={0} aria-label="Answer for a model">
            <Visible text={text} />
          </pre>
        )}
      </details>
    </section>
  );
}
