/** A dialog over the page. The focus returns to what opened it, also when its content is gone. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

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
  useLayoutEffect(() => {
    const [shown, opener] = [dialog.current, document.activeElement];
    shown?.showModal();
    return () => {
      shown?.close(); // before the focus moves: what is behind a dialog cannot have it
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else document.getElementById("content")?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={() => dialog.current && onClose()}
      onCancel={(event) => {
        // Removed at once: the event `close` comes later, when the page may show another dialog already.
        event.preventDefault();
        onClose();
      }}
    >
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
