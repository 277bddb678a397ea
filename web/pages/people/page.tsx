/** Who may use this gateway: people with their roles, tokens of agents and services, and MCP clients that people let in. */

import { accessTokensSchema, clientsSchema, peopleSchema } from "../../../src/surfaces/admin/contract/people.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Head, Problem } from "../../parts/frame.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Clients } from "./clients.tsx";
import { People } from "./people.tsx";
import { Tokens } from "./tokens.tsx";

export function Page({ api, status }: PageProps) {
  const people = useAnswer(() => api.read(peopleSchema, "/api/people"), { key: "people", topics: [] });
  const tokens = useAnswer(() => api.read(accessTokensSchema, "/api/tokens"), { key: "tokens", topics: [] });
  const logins = useAnswer(() => api.findLogins(), { key: "logins", topics: [] });
  const clients = useAnswer(() => api.read(clientsSchema, "/api/clients"), { key: "clients", topics: [] });
  const names = people.value?.people.map(({ name }) => name) ?? [];
  const servers = status.upstreams.map(({ name }) => name);
  return (
    <>
      <Head title="People and tokens" sub="who may use this gateway, and what each may do" />
      <div class="content">
        {people.error && <Problem message={people.error.message} />}
        {tokens.error && <Problem message={tokens.error.message} />}
        {!people.value && !people.error && <Loading what="people" />}
        {people.value && (
          <People
            api={api}
            people={people.value.people}
            hasPasswords={logins.value?.password === true}
            reload={people.reload}
          />
        )}
        {tokens.value && (
          <Tokens {...{ api, servers }} people={names} tokens={tokens.value.tokens} reload={tokens.reload} />
        )}
        {clients.value && <Clients api={api} clients={clients.value.clients} reload={clients.reload} />}
      </div>
    </>
  );
}
