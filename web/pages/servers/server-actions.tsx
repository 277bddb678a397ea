/** What an operator does with one server. */

import { connectSchema, restartSchema } from "../../../src/surfaces/admin/contract/servers.ts";
import type { UpstreamAnswer } from "../../../src/surfaces/admin/contract.ts";
import type { Api } from "../../api.ts";
import { ActionButton } from "../../parts/action.tsx";

/** Who acts; without the role, commands are shown instead of buttons. */
export interface Acting {
  readonly api: Pick<Api, "change">;
  readonly isOperator: boolean;
}

export function ServerActions({ upstream, api, isOperator }: Acting & { readonly upstream: UpstreamAnswer }) {
  const { name, state, transport } = upstream;
  const path = `/api/servers/${encodeURIComponent(name)}`;
  if (!isOperator)
    return (
      <code class="small">
        glovebox servers {state === "needs-login" ? "login" : "restart"} {name}
      </code>
    );
  const connect = async (): Promise<void> => {
    const { url } = await api.change(connectSchema, `${path}/connect`);
    if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError("The address of the login is not valid.");
    location.assign(url);
  };
  const hasLogin = transport === "http" || transport === "sse";
  return (
    <>
      {state === "needs-login" && hasLogin && (
        <ActionButton label="Connect" tone="primary" isSmall about={`${name} with a login`} run={connect} />
      )}
      <ActionButton
        label="Restart"
        tone="quiet"
        isSmall
        about={name}
        run={() => api.change(restartSchema, `${path}/restart`)}
      />
    </>
  );
}
