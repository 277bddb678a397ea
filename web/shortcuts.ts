/** Keys of the page. They are off while a field has the focus or a dialog is open, and no single key decides anything. */

const FIELDS = "input, select, textarea, dialog";

/** True if a page may use this key. */
export function takesKeys(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return false;
  if (document.querySelector("dialog[open]") !== null) return false;
  return !(event.target instanceof Element && event.target.closest(FIELDS) !== null);
}
