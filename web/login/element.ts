/** Makes elements. Text only ever becomes a text node, so nothing that a server says can become markup. */

/** What may be set on an element; a fixed list, so that no attribute comes from data by name. */
interface Attributes {
  readonly class?: string;
  readonly title?: string;
  readonly id?: string;
  readonly role?: string;
  readonly "aria-label"?: string;
  readonly "aria-live"?: "polite";
  readonly type?: "text" | "password" | "button";
  readonly autocomplete?: AutoFill;
  readonly for?: string;
  readonly required?: "";
}

/** An element with its attributes and children, in that order. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** What was rendered last; elements that the user opened since do not count as a change. */
const shown = new WeakMap<Element, DocumentFragment>();

/** Replaces the children of `parent`, unless nothing changed: then focus and selection survive a refresh. */
export function show(parent: Element, ...children: readonly (Node | string)[]): void {
  const next = document.createDocumentFragment();
  next.append(...children);
  if (shown.get(parent)?.isEqualNode(next) === true) return;
  shown.set(parent, document.importNode(next, true));
  parent.replaceChildren(next);
}
