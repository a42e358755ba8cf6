/** The menu of examples: a title and a line on each. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { examples, loadExamples, openExample, type Example } from "./examples.js";

export function ExampleMenu(): JSX.Element {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div
      class="examples"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOpen(false);
      }}
    >
      <button
        ref={button}
        type="button"
        aria-expanded={open}
        aria-haspopup="menu"
        onClick={() => setOpen(!open)}
        onPointerEnter={() => void loadExamples()}
      >
        Examples <span aria-hidden="true">▾</span>
      </button>
      {open && <Menu onClose={close} />}
    </div>
  );
}

/** Arrow keys move, a letter goes to the next title that begins with it, Escape closes. */
function Menu({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  // Nothing clips what is fixed: not the pane.
  useLayoutEffect(() => {
    const at = list.current?.parentElement?.getBoundingClientRect();
    if (list.current === null || at === undefined) return;
    const left = Math.max(4, Math.min(at.left, innerWidth - list.current.offsetWidth - 4));
    Object.assign(list.current.style, {
      left: `${left}px`,
      top: `${at.bottom + 4}px`,
      maxHeight: `${innerHeight - at.bottom - 12}px`,
    });
  }, []);
  const items = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  useEffect(() => {
    void loadExamples().then(() => requestAnimationFrame(() => items()[0]?.focus()));
  }, []);
  const choose = (example: Example): void => {
    onClose();
    void openExample(example);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onClose();
      return;
    }
    const to = target(items(), event.key);
    if (to === undefined) return;
    event.preventDefault();
    to.focus();
  };
  return (
    <ul ref={list} class="example-list" role="menu" aria-label="Examples" tabIndex={-1} onKeyDown={onKeyDown}>
      {examples.value.map((example) => (
        <li key={example.name} role="none">
          <button type="button" role="menuitem" tabIndex={-1} onClick={() => choose(example)}>
            <span class="example-title">{example.title}</span>
            <span class="example-name mono">
              {example.capture === null ? example.name : `${example.name} + ${example.capture}`}
            </span>
            <span class="example-about">{example.description}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The item that a key goes to; undefined for other keys. */
function target(items: readonly HTMLElement[], key: string): HTMLElement | undefined {
  const root = items[0]?.getRootNode() as Document | undefined;
  const at = items.findIndex((item) => item === root?.activeElement);
  const ends: Readonly<Record<string, number>> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at + items.length - 1) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const index = ends[key];
  if (index !== undefined) return items[index];
  if (!/^\p{L}$/u.test(key)) return undefined;
  const turned = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return turned.find(({ textContent }) => textContent.toLowerCase().startsWith(key.toLowerCase()));
}
