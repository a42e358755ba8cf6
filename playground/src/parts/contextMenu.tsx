/** A menu at a place of the page. Arrow keys move, Enter chooses, Escape closes. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A place of the page, in pixels. */
export interface MenuPlace {
  readonly x: number;
  readonly y: number;
}

export interface MenuItem {
  readonly id: string;
  readonly title: string;
  readonly disabled: boolean;
  readonly run: () => void;
}

interface ContextMenuProps {
  readonly label: string;
  readonly place: MenuPlace;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
}

export function ContextMenu({ label, place, items, onClose }: ContextMenuProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const before = useRef<Element | null>(null);
  const able = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
  useLayoutEffect(() => {
    const menu = list.current;
    if (menu === null) return;
    menu.style.left = `${Math.max(4, Math.min(place.x, innerWidth - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(place.y, innerHeight - menu.offsetHeight - 4))}px`;
  }, [place]);
  // Before the next key arrives, which would go to what is behind the menu.
  useLayoutEffect(() => {
    before.current = document.activeElement;
    able()[0]?.focus();
  }, []);
  const close = (): void => {
    onClose();
    if (before.current instanceof HTMLElement) before.current.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = able();
    const at = all.findIndex((item) => item === document.activeElement);
    const to: Readonly<Record<string, number>> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at + all.length - 1) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (to[event.key] !== undefined) all[to[event.key] ?? 0]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul
      ref={list}
      class="frame-menu"
      role="menu"
      aria-label={label}
      onKeyDown={onKeyDown}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) onClose();
      }}
    >
      {items.map(({ id, title, disabled, run }) => (
        <li key={id} role="none">
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            disabled={disabled}
            onClick={() => {
              close();
              run();
            }}
          >
            {title}
          </button>
        </li>
      ))}
    </ul>
  );
}
