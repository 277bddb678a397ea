/** Text from programs, servers and models: always text, and what a reader cannot see is written out. */

import { splitHidden } from "../../src/text/escape-hidden.ts";

export function Visible({ text }: { readonly text: string }) {
  return (
    <>
      {splitHidden(text).map((part, index) =>
        part.isHidden ? (
          <span key={index} class="ctl" title="A character that cannot be seen">
            {nameOf(part.text)}
          </span>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The start of an id; the whole one is in the title. */
export function Id({ id }: { readonly id: string }) {
  return (
    <code class="muted" title={id}>
      {id.slice(0, 11)}
    </code>
  );
}

/** A command of the terminal that can be copied. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="cmd">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${text}`} />
    </div>
  );
}

/** A function makes a long text when it is needed. */
export function CopyButton({ text, label }: { readonly text: string | (() => string); readonly label: string }) {
  return (
    <button
      class="btn quiet small"
      type="button"
      aria-label={label}
      onClick={() => void copy(typeof text === "string" ? text : text())}
    >
      Copy
    </button>
  );
}

async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text).catch(() => undefined);
}

/** Saves a text as a file of the person. */
export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
