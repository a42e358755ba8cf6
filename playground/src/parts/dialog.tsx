/** A dialog over the page: the browser keeps the focus in it, and gives it back. Escape and a click beside it close it. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { IconButton } from "./button.js";

export interface DialogProps {
  readonly title: string;
  /** Called once it is closed, however that was done. Whoever shows it takes it away then. */
  readonly onClose: () => void;
  readonly class?: string;
  /** Without it, the title is for screen readers alone. */
  readonly head?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, class: name = "", head = true, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    if (shown?.open === false) shown.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${name}`}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <div class="dialog-body">
        <header class={head ? "dialog-head" : "visually-hidden"}>
          <h2 id={id}>{title}</h2>
          {head && (
            <IconButton label="Close" keyHint="Esc" onClick={() => dialog.current?.close()}>
              <path d="M4 4l8 8M12 4l-8 8" />
            </IconButton>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
