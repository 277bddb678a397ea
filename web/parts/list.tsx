/** What lists share: a box to search in them, and a line to continue them. */

import { Icon } from "./icon.tsx";

interface SearchBoxProps {
  readonly id: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  /** The key that moves the focus here. */
  readonly shortcut?: string;
}

export function SearchBox({ id, label, placeholder, value, onText, shortcut }: SearchBoxProps) {
  return (
    <div class="search">
      <Icon name="search" />
      <input
        class="input"
        id={id}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {shortcut !== undefined && <kbd>{shortcut}</kbd>}
    </div>
  );
}

export function Pager({ text, onOlder }: { readonly text: string; readonly onOlder: () => Promise<void> }) {
  return (
    <div class="pager">
      <span>{text}</span>
      <span class="end">
        <button class="btn small" type="button" onClick={() => void onOlder()}>
          Older
        </button>
      </span>
    </div>
  );
}
