/** What lists share: a box to search in them, and a line to continue them. */

import { ActionButton } from "./action.tsx";
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

interface PagerProps {
  readonly text: string;
  readonly label?: string;
  readonly onOlder: () => Promise<void>;
}

export function Pager({ text, label = "Older", onOlder }: PagerProps) {
  return (
    <div class="pager">
      <span>{text}</span>
      <span class="end">
        <ActionButton label={label} isSmall run={onOlder} />
      </span>
    </div>
  );
}
