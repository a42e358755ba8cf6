/** A button that opens a menu. Arrow keys move, a letter goes to the next item that begins with it, Escape closes. */
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface MenuItem {
  readonly title: string;
  /** Its key, which is shown beside it. */
  readonly key?: string;
  /** For one of several of which one is chosen, or `many`. */
  readonly checked?: boolean;
  readonly many?: true;
  readonly run: () => void;
}

export interface MenuProps {
  /** The name of button and menu. */
  readonly label: string;
  /** What the button shows; without it, the label. */
  readonly children?: ComponentChildren;
  readonly class?: string;
  readonly items: readonly MenuItem[];
}

export function Menu({ label, children, class: name = "", items }: MenuProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const close = (): void => {
    setOpen(false);
    place.current?.querySelector("button")?.focus();
  };
  const choose = (item: MenuItem): void => {
    close();
    item.run();
  };
  return (
    <div
      class="menu"
      ref={place}
      onFocusOut={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node && place.current?.contains(relatedTarget))) setOpen(false);
      }}
    >
      <button
        type="button"
        class={name}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={children === undefined ? undefined : label}
        title={children === undefined ? undefined : label}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || open) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children ?? label}
      </button>
      {open && <Items label={label} items={items} onClose={close} onChoose={choose} />}
    </div>
  );
}

interface ItemsProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
  readonly onChoose: (item: MenuItem) => void;
}

function Items({ label, items, onClose, onChoose }: ItemsProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const buttons = (): HTMLElement[] => [...(list.current?.querySelectorAll("button") ?? [])];
  // Before the next key arrives, which would go to the button.
  useLayoutEffect(() => buttons()[0]?.focus(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onClose();
      return;
    }
    const next = target(buttons(), event.key);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <ul ref={list} class="menu-list" role="menu" aria-label={label} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <li key={item.title} role="none">
          <button
            type="button"
            role={item.checked === undefined ? "menuitem" : item.many ? "menuitemcheckbox" : "menuitemradio"}
            aria-checked={item.checked}
            tabIndex={-1}
            onClick={() => onChoose(item)}
          >
            <span>{item.title}</span>
            {item.key !== undefined && <kbd>{item.key}</kbd>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The item that a key goes to; undefined for other keys. */
function target(items: readonly HTMLElement[], key: string): HTMLElement | undefined {
  const at = items.findIndex((item) => item === document.activeElement);
  if (key === "ArrowDown") return items[(at + 1) % items.length];
  if (key === "ArrowUp") return items.at(at <= 0 ? -1 : at - 1);
  if (key === "Home") return items[0];
  if (key === "End") return items.at(-1);
  if (!/^\p{L}$/u.test(key)) return undefined;
  const turned = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return turned.find(({ textContent }) => textContent.toLowerCase().startsWith(key.toLowerCase()));
}
