/** How is the gateway configured, and where is each setting from? Read-only: the configuration is a file. */

import { settingsSchema } from "../../../src/surfaces/admin/contract/settings.ts";
import type { SettingsAnswer } from "../../../src/surfaces/admin/contract/settings.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { SearchBox } from "../../parts/list.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import { Visible } from "../../parts/text.tsx";
import { navigate, place, withQuery } from "../../router.ts";

type Setting = SettingsAnswer["settings"][number];

export function Page({ api }: PageProps) {
  const { value, error } = useAnswer(() => api.read(settingsSchema, "/api/settings"), { key: "settings", topics: [] });
  const { query } = place.value;
  const [search, isOwn] = [query.get("search") ?? "", query.get("source") === "configuration"];
  const all = value?.settings ?? [];
  const shown = all.filter(
    ({ key, value: text, source }) =>
      (!isOwn || source === "configuration") && `${key} ${text}`.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <>
      <Head title="Settings" sub={value?.file ?? "built in, without a file"} />
      <div class="content">
        {error && <Problem message={error.message} />}
        {!value && !error && <Loading what="settings" />}
        {value && (
          <div class="bar">
            <SearchBox
              id="search"
              label="Search settings"
              placeholder="Part of a key or a value"
              value={search}
              onText={(text) => navigate(withQuery("search", text), "replace")}
            />
            <select
              class="select"
              aria-label="Source"
              value={isOwn ? "configuration" : ""}
              onChange={(event) => navigate(withQuery("source", event.currentTarget.value), "replace")}
            >
              <option value="">Source: any</option>
              <option value="configuration">Set in the configuration</option>
            </select>
          </div>
        )}
        {value && shown.length === 0 && (
          <Empty title="No setting matches">
            <a class="btn small" href="/settings">
              Clear filters
            </a>
          </Empty>
        )}
        {shown.length > 0 && (
          <Table label="Settings" columns={["Setting", "Value", "Source"]}>
            {shown.map((setting) => (
              <Row key={setting.key} setting={setting} />
            ))}
          </Table>
        )}
        <p class="small muted below">
          Settings are changed in the file, and hold after a restart. Rules in a rule file hold at once. Environment and
          headers of servers are never shown.
        </p>
      </div>
    </>
  );
}

function Row({ setting: { key, value, source } }: { readonly setting: Setting }) {
  return (
    <tr>
      <td class="first any">
        <code>
          <Visible text={key} />
        </code>
      </td>
      <td class="wide any">
        <code class={source === "default" ? "muted" : "strong"}>
          <Visible text={value} />
        </code>
      </td>
      <td class="second">
        {source === "default" ? <span class="muted">default</span> : <span class="tag line">set</span>}
      </td>
    </tr>
  );
}
