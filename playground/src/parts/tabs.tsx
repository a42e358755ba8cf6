/** A row of tabs. Arrow keys move between them; a panel has the id `panel-NAME` and shows its tab in `aria-labelledby`. */
import type { ComponentChildren, JSX } from "preact";

export interface Tab<T extends string> {
  readonly name: T;
  readonly title: ComponentChildren;
}

export interface TabsProps<T extends string> {
  /** What the tabs are of, for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab<T>[];
  readonly selected: T;
  readonly onSelect: (name: T) => void;
}

export function Tabs<T extends string>({ label, tabs, selected, onSelect }: TabsProps<T>): JSX.Element {
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
    const at = tabs.findIndex(({ name }) => name === selected);
    const by = { ArrowRight: 1, ArrowLeft: tabs.length - 1, Home: tabs.length - at, End: tabs.length - 1 - at }[
      event.key
    ];
    const next = by === undefined ? undefined : tabs[(at + by) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next.name);
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next.name}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ name, title }) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === selected}
          aria-controls={`panel-${name}`}
          tabIndex={name === selected ? 0 : -1}
          onClick={() => onSelect(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
