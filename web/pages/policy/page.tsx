/** What may happen, why, and what would change. Each question has an address of its own. */

import type { ComponentChildren } from "preact";

import { policySchema } from "../../../src/surfaces/admin/contract/policy.ts";
import type { PolicyAnswer } from "../../../src/surfaces/admin/contract/policy.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Head, Problem } from "../../parts/frame.tsx";
import { Loading } from "../../parts/notice.tsx";
import { place } from "../../router.ts";
import { Explain } from "./explain.tsx";
import { Labels } from "./labels.tsx";
import { Lint } from "./lint.tsx";
import { Quotas } from "./quotas.tsx";
import { Rules } from "./rules.tsx";
import { Simulate } from "./simulate.tsx";

export interface PolicyPartProps extends Pick<PageProps, "api"> {
  readonly policy: PolicyAnswer;
  readonly reload: () => void;
}

const TABS = [
  ["rules", "Rules", Rules],
  ["explain", "Explain", Explain],
  ["simulate", "Simulate", Simulate],
  ["labels", "Labels and sources", Labels],
  ["quotas", "Quotas", Quotas],
  ["lint", "Lint", Lint],
] as const;

export function Page({ api }: PageProps) {
  const { value, error, reload } = useAnswer(() => api.read(policySchema, "/api/policy"), {
    key: "policy",
    topics: ["approvals", "executions"],
  });
  const wanted = place.value.query.get("tab") ?? "rules";
  const [name, , Part] = TABS.find(([one]) => one === wanted) ?? TABS[0];
  return (
    <>
      <Head title="Policy" sub={value ? describe(value) : ""} />
      <div class="content">
        <nav class="tabs" aria-label="Policy">
          {TABS.map(([one, title]) => (
            <Tab key={one} name={one} isCurrent={one === name}>
              {title}
            </Tab>
          ))}
        </nav>
        {error && <Problem message={error.message} />}
        {!value && !error && <Loading what="the policy" />}
        {value && <Part {...{ api, reload }} policy={value} />}
      </div>
    </>
  );
}

function Tab(props: { readonly name: string; readonly isCurrent: boolean; readonly children: ComponentChildren }) {
  const { name, isCurrent, children } = props;
  return (
    <a href={name === "rules" ? "/policy" : `/policy?tab=${name}`} aria-current={isCurrent ? "page" : undefined}>
      {children}
    </a>
  );
}

function describe({ profile, rules, flows }: PolicyAnswer): string {
  return `profile ${profile}, ${rules.length} rules, data-flow guard: ${flows}`;
}
