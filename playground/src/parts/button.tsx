/** Buttons. */
import type { ComponentChildren, JSX } from "preact";

export interface ButtonProps {
  /** What it does: the text on it, or of a button with a picture its name and tooltip. */
  readonly label: string;
  /** The key of its command, which the tooltip shows: `?`. */
  readonly keyHint?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

export function Button({ label, keyHint, class: name, disabled = false, onClick }: ButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={name}
      disabled={disabled}
      title={keyHint === undefined ? undefined : `${label} (${keyHint})`}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

/** A button with a picture: `children` are paths of an SVG of 16 by 16, drawn as lines. */
export function IconButton({
  label,
  keyHint,
  class: name = "quiet",
  disabled = false,
  onClick,
  children,
}: ButtonProps & { readonly children: ComponentChildren }): JSX.Element {
  return (
    <button
      type="button"
      class={`icon-button ${name}`}
      aria-label={label}
      title={keyHint === undefined ? label : `${label} (${keyHint})`}
      disabled={disabled}
      onClick={onClick}
    >
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
        {children}
      </svg>
    </button>
  );
}
