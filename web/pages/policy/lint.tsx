/** Rules that change nothing, and patterns that match nothing: they look like a defense or a permission and are none. */

import { lintSchema } from "../../../src/surfaces/admin/contract/policy.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Done, Loading } from "../../parts/notice.tsx";
import { Visible } from "../../parts/text.tsx";
import type { PolicyPartProps } from "./page.tsx";

export function Lint({ api }: PolicyPartProps) {
  const { value, error } = useAnswer(() => api.read(lintSchema, "/api/policy/lint"), {
    key: "lint",
    topics: ["servers"],
  });
  if (error && !value) return <Problem message={error.message} />;
  if (!value) return <Loading what="the findings; this waits for every server" />;
  const findings = [
    ...value.findings.map(({ rule, kind, message, hint }) => ({ key: rule, kind, message, hint })),
    ...value.idlePatterns.map(({ setting, pattern }) => ({
      key: `${setting} ${pattern}`,
      kind: "idle",
      message: `${setting}: ${JSON.stringify(pattern)} matches no known tool`,
      hint: "Compare the spelling with the page of tools; a server may have renamed or removed the tool",
    })),
  ];
  return (
    <section class="stack" aria-label="Lint">
      {findings.length === 0 && <Done>{value.rules} rules, nothing to report.</Done>}
      {findings.map(({ key, kind, message, hint }) => (
        <div key={key} class="note wait">
          <Icon name="warn" />
          <div>
            <span class="tag line">{kind}</span> <Visible text={message} />.
            <div class="small soft">
              <Visible text={hint} />.
            </div>
          </div>
        </div>
      ))}
    </section>
  );
}
