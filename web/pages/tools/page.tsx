/** Searches all tools, as agents do. */

import { useEffect, useState } from "preact/hooks";

import type { ToolsAnswer } from "../../../src/surfaces/admin/contract.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { SearchBox } from "../../parts/list.tsx";
import { Tag } from "../../parts/status.tsx";
import { Visible } from "../../parts/text.tsx";
import { navigate, place, withQuery } from "../../router.ts";

/** Delay between the last key stroke and the search. */
const PAUSE_MS = 150;

export function Page({ api }: PageProps) {
  const [query, setQuery] = useState(place.value.query.get("query") ?? "");
  const [found, setFound] = useState<ToolsAnswer>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const latest = new AbortController();
    const search = async (): Promise<void> => {
      try {
        setFound(await api.tools(query.trim(), latest.signal));
        setProblem("");
        navigate(withQuery("query", query.trim()), "replace");
      } catch (error) {
        if (!latest.signal.aborted) setProblem(error instanceof Error ? error.message : "The search failed.");
      }
    };
    const timer = setTimeout(() => void search(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      latest.abort();
    };
  }, [query]);
  return (
    <>
      <Head title="Tools" sub="as agents find them" />
      <div class="content">
        <div class="bar">
          <SearchBox
            id="query"
            label="Search tools"
            placeholder="What should a tool do? For example: list issues"
            value={query}
            onText={setQuery}
          />
        </div>
        {problem !== "" && <Problem message={problem} />}
        <section aria-label="Tools" aria-live="polite">
          {found && <Found found={found} />}
        </section>
      </div>
    </>
  );
}

function Found({ found: { tools, cursor } }: { readonly found: ToolsAnswer }) {
  if (tools.length === 0) return <Empty title="No tool matches." />;
  return (
    <>
      <ul class="reads">
        {tools.map(({ name, effect, summary, server, upstreamName }) => (
          <li key={name}>
            <div class="row">
              <code class="strong">{name}</code>
              <Tag name={effect} />
              <span class="muted small">
                {server}: <Visible text={upstreamName} />
              </span>
            </div>
            <p class="soft">
              <Visible text={summary} />
            </p>
          </li>
        ))}
      </ul>
      {cursor !== undefined && <p class="muted">There are more; search to narrow it down.</p>}
    </>
  );
}
