/** Fields of forms: a label, what it means, and the control. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly isNumber?: boolean;
  readonly isRequired?: boolean;
  readonly isCode?: boolean;
  readonly placeholder?: string;
  readonly maxLength?: number;
}

export function TextField(props: FieldProps) {
  const {
    label,
    hint,
    value,
    onText,
    isNumber = false,
    isRequired = false,
    isCode = false,
    placeholder,
    maxLength,
  } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        class={isCode ? "input mono" : "input"}
        {...{ id, value, placeholder, maxLength }}
        type="text"
        inputMode={isNumber ? "numeric" : "text"}
        required={isRequired}
        autoComplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} class="small muted">
          {hint}
        </span>
      )}
    </div>
  );
}

interface AreaProps extends Pick<FieldProps, "label" | "hint" | "value" | "onText" | "placeholder"> {
  readonly rows: number;
}

export function TextArea({ label, hint, value, onText, placeholder, rows }: AreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        class="input mono"
        {...{ id, rows, value, placeholder }}
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} class="small muted">
          {hint}
        </span>
      )}
    </div>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onChoose: (value: string) => void;
}

export function SelectField({ label, value, options, onChoose }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} class="select" value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ChoicesProps {
  readonly label: string;
  readonly options: readonly (readonly [value: string, meaning: string])[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}

/** Boxes of which any number can be checked. */
export function Choices({ label, options, chosen, onChoose }: ChoicesProps) {
  const toggle = (value: string): void =>
    onChoose(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);
  return (
    <fieldset class="field">
      <legend class="small strong">{label}</legend>
      <div class="options">
        {options.map(([value, meaning]) => (
          <label key={value} class="option">
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
            <span>
              {value}
              <small>{meaning}</small>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Parts of a text that are separated by commas, spaces or lines; none is `undefined`. */
export function splitWords(text: string): readonly string[] | undefined {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}
