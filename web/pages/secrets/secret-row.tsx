/** One secret: whether it is set, what refers to it, and when it was lent last. */

import { Status } from "../../parts/status.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, formatTime, useNow } from "../../parts/time.tsx";
import type { ListedSecret } from "./page.tsx";

interface SecretRowProps {
  readonly secret: ListedSecret;
  readonly onOpen: (kind: "set" | "remove" | "bind") => void;
}

export function SecretRow({ secret, onOpen }: SecretRowProps) {
  const now = useNow();
  const { name, version, usedBy, boundTo, lastUse } = secret;
  const isMissing = version === undefined;
  return (
    <tr>
      <td class="first any">
        <code class="strong">
          <Visible text={name} />
        </code>
      </td>
      <td class="second">
        <SetState secret={secret} now={now} />
      </td>
      <td class="wide soft any">
        {usedBy.map((setting) => (
          <div key={setting}>
            <code>
              <Visible text={setting} />
            </code>
          </div>
        ))}
        {usedBy.length === 0 && (name.startsWith("oauth_") ? "the login at an upstream" : "no setting")}
      </td>
      <td class="wide soft any">
        <Visible text={boundTo ? describeBinding(boundTo) : "nowhere"} />
      </td>
      <td class="num" data-l="used">
        {lastUse ? (
          <span title={`by ${lastUse.by}${lastUse.purpose === undefined ? "" : `, ${lastUse.purpose}`}`}>
            <Ago at={lastUse.at} now={now} />
          </span>
        ) : (
          "not seen"
        )}
      </td>
      <td class="acts">
        <button class={isMissing ? "btn small primary" : "btn small"} type="button" onClick={() => onOpen("set")}>
          {isMissing ? "Set" : "Replace"}
          <span class="vh"> {name}</span>
        </button>
        <button class="btn small" type="button" onClick={() => onOpen("bind")}>
          Hosts<span class="vh"> of {name}</span>
        </button>
        {!isMissing && (
          <button class="btn small" type="button" onClick={() => onOpen("remove")}>
            Remove<span class="vh"> {name}</span>
          </button>
        )}
      </td>
    </tr>
  );
}

function SetState({ secret: { version, setAt = 0 }, now }: Pick<SecretRowProps, "secret"> & { readonly now: number }) {
  if (version === undefined) return <Status tone="bad">not set</Status>;
  return (
    <Status tone="ok">
      <span title={formatTime(setAt)}>
        set, version {version}, <Ago at={setAt} now={now} />
      </span>
    </Status>
  );
}

function describeBinding({ hosts, places, principals }: NonNullable<ListedSecret["boundTo"]>): string {
  const who = principals.length === 0 ? "" : `, for ${principals.join(", ")}`;
  return `${hosts.join(", ")} (${places.join(", ")})${who}`;
}
