/** A field for code. The editor is loaded with it; until then, and where it cannot be loaded, it is a plain field. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { OpenedEditor } from "./open-editor.ts";

interface EditorProps {
  readonly label: string;
  /** The text at the start, and after each change of `version`. */
  readonly text: string;
  readonly version?: number;
  readonly onText: (text: string) => void;
  /** Called for Ctrl+Enter. */
  readonly onRun?: () => void;
}

export function Editor({ label, text, version = 0, onText, onRun }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<OpenedEditor>();
  const latest = useRef({ onText, onRun, text });
  latest.current = { onText, onRun, text };
  useEffect(() => {
    let isShown = true;
    let opened: OpenedEditor | undefined;
    void import("./open-editor.ts").then(({ openEditor }) => {
      if (!isShown || !host.current) return;
      opened = openEditor(host.current, {
        label,
        text: latest.current.text,
        onText: (changed) => latest.current.onText(changed),
        onRun: () => latest.current.onRun?.(),
      });
      setEditor(opened);
    });
    return () => {
      isShown = false;
      opened?.close();
    };
  }, []);
  useEffect(() => editor?.setText(text), [version]);
  return (
    <div class="editor">
      <div ref={host} hidden={!editor} />
      {!editor && (
        <textarea
          class="input mono"
          aria-label={label}
          rows={14}
          spellcheck={false}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
