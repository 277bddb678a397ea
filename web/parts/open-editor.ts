/**
 * CodeMirror in a shadow root, where its styles are constructed: the page's policy refuses `style` elements. Loaded only
 * where a person writes code.
 */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface OpenedEditor {
  setText(text: string): void;
  close(): void;
}

interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onRun: () => void;
}

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--tok-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--tok-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--tok-number)" },
  { tag: tags.comment, color: "var(--tok-comment)", fontStyle: "italic" },
  { tag: tags.typeName, color: "var(--tok-type)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "var(--t-small)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": {
    fontFamily: "var(--font-mono)",
    lineHeight: "var(--lh-code)",
    minHeight: "16rem",
    maxHeight: "32rem",
  },
  ".cm-content": { caretColor: "var(--ink)", padding: "var(--s-2) 0" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selected) !important" },
  ".cm-specialChar": { color: "var(--bad)" },
});

/** Escape then Tab leaves the field, because Tab alone indents. */
export function openEditor(host: HTMLElement, { label, text, onText, onRun }: EditorOptions): OpenedEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const run = {
    key: "Mod-Enter",
    run: () => {
      onRun();
      return true;
    },
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightSpecialChars(),
        highlightActiveLine(),
        indentOnInput(),
        bracketMatching(),
        javascript({ typescript: true }),
        syntaxHighlighting(colors),
        look,
        keymap.of([run, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onText(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    close: () => view.destroy(),
  };
}
