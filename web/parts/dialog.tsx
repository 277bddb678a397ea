/** A dialog over the page. The focus returns to what opened it, also when its content is gone. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: ComponentChildren;
  /** Called for Escape. */
  readonly onClose: () => void;
  /** Called when the form is sent; absent for a dialog that only shows something. */
  readonly onSubmit?: () => void;
  /** The buttons. */
  readonly footer: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, onSubmit, footer, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else document.getElementById("content")?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={id} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <div>
          <h2 id={id}>{title}</h2>
          {children}
        </div>
        <footer>{footer}</footer>
      </form>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: ComponentChildren;
  /** What happens, and what it cannot undo. */
  readonly children: ComponentChildren;
  /** Names what it does. */
  readonly action: string;
  readonly isSending: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, action, isSending, onConfirm, onClose }: ConfirmProps) {
  const footer = (
    <>
      <button class="btn" type="button" onClick={onClose}>
        Keep
      </button>
      <button class="btn danger" type="submit" disabled={isSending}>
        {action}
      </button>
    </>
  );
  return (
    <Dialog {...{ title, onClose, footer }} onSubmit={onConfirm}>
      {children}
    </Dialog>
  );
}
