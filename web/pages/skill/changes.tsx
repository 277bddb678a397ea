/** What changed since the version that was approved last, file by file. */

import type { SkillReviewAnswer } from "../../../src/surfaces/admin/contract/skills.ts";
import { Visible } from "../../parts/text.tsx";

export function Changes({ review: { changes } }: { readonly review: SkillReviewAnswer }) {
  const { since, description, input, output, files } = changes;
  const parts = [
    ["description", description],
    ["input", input],
    ["output", output],
  ] as const;
  const changed = files.filter(({ kind }) => kind !== "same");
  return (
    <section aria-labelledby="changes">
      <div class="h">
        <h2 id="changes">{since === undefined ? "Files" : `Changes since version ${since}`}</h2>
        <span class="muted small">
          {changed.length} of {files.length} files
        </span>
      </div>
      {parts.map(([name, lines]) => lines && <Lines key={name} title={name} kind="changed" lines={lines} />)}
      {changed.map(({ path, kind, lines }) => (
        <Lines key={path} title={path} kind={kind} lines={lines} />
      ))}
      {changed.length === 0 && <p class="soft">No file has changed.</p>}
    </section>
  );
}

interface LinesProps {
  readonly title: string;
  readonly kind: string;
  readonly lines: readonly string[];
}

function Lines({ title, kind, lines }: LinesProps) {
  return (
    <div class="panel">
      <div class="panel-h">
        <code class="strong">
          <Visible text={title} />
        </code>
        <span class="tag line">{kind}</span>
      </div>
      <div class="diff" tabIndex={0} role="region" aria-label={`Changes of ${title}`}>
        {lines.map((line, index) => {
          const sign = line.slice(0, 1);
          const [tone, word] = sign === "+" ? ["dl a", "added: "] : sign === "-" ? ["dl d", "removed: "] : ["dl", ""];
          return (
            <div key={index} class={tone}>
              <span>
                {word !== "" && <span class="vh">{word}</span>}
                <Visible text={line.slice(2)} />
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
