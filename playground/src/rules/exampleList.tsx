/** The examples in groups by task, found by typing. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { examples, loadExamples, openExample, type Example } from "./examples.js";

/** Tasks, and the names of the examples that show how they are done. */
const TASKS: readonly (readonly [title: string, names: RegExp])[] = [
  ["Spread traffic over queues", /^(everyday|tunnel|ports|rss)$/],
  ["Find out why a frame vanished", /^why-/],
  ["Find dead rules", /^cover-/],
  ["Connect port, PF and VFs", /^(rules|serve)-/],
  ["Create verbs flows", /^flows-/],
  ["Meter, track connections, sample", /^state-/],
  ["Send messages", /./],
];

interface Group {
  readonly title: string;
  readonly items: readonly Example[];
}

function groupsOf(text: string): Group[] {
  const words = text.toLowerCase().split(/\s+/);
  const taskOf = ({ name }: Example): string => TASKS.find(([, names]) => names.test(name))?.[0] ?? "";
  return TASKS.map(([title]) => {
    const has = (one: Example): boolean => {
      const whole = `${title} ${one.title} ${one.name} ${one.description} ${one.capture ?? ""}`.toLowerCase();
      return words.every((word) => whole.includes(word));
    };
    return { title, items: examples.value.filter((one) => taskOf(one) === title && has(one)) };
  }).filter(({ items }) => items.length > 0);
}

/** Arrow keys move, Enter opens, Escape closes. */
export function ExampleList({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [text, setText] = useState("");
  const [selected, setSelected] = useState(0);
  const place = useRef<HTMLDivElement>(null);
  const groups = groupsOf(text);
  const all = groups.flatMap(({ items }) => items);
  const at = Math.min(selected, all.length - 1);
  // Nothing clips what is fixed: not the pane.
  useLayoutEffect(() => {
    const box = place.current?.parentElement?.getBoundingClientRect();
    if (place.current === null || box === undefined) return;
    const left = Math.max(4, Math.min(box.left, innerWidth - place.current.offsetWidth - 4));
    const [top, height] = [box.bottom + 4, innerHeight - box.bottom - 12];
    Object.assign(place.current.style, { left: `${left}px`, top: `${top}px`, maxHeight: `${height}px` });
    place.current.querySelector("input")?.focus();
    void loadExamples();
  }, []);
  useEffect(() => place.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at]);
  const choose = (example: Example | undefined): void => {
    if (example === undefined) return;
    onClose();
    void openExample(example);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length }[event.key];
    if (to !== undefined) setSelected(to % Math.max(all.length, 1));
    else if (event.key === "Enter") choose(all[at]);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={place} class="example-list">
      <input
        type="text"
        role="combobox"
        aria-label="Search examples"
        aria-expanded="true"
        aria-controls="example-list"
        aria-autocomplete="list"
        aria-activedescendant={all[at] === undefined ? undefined : `example-${all[at].name}`}
        placeholder="Search: vxlan, meter, eswitch …"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="example-list" role="listbox" aria-label="Examples" tabIndex={-1}>
        {groups.map(({ title, items }) => (
          <div key={title} role="group" aria-label={title}>
            <p class="example-task" role="presentation">
              {title}
            </p>
            {items.map((example) => (
              <Option key={example.name} example={example} selected={example === all[at]} onChoose={choose} />
            ))}
          </div>
        ))}
      </div>
      <p class={all.length === 0 ? "muted example-none" : "visually-hidden"} role="status">
        {all.length === 0 ? "No example has these words." : `${all.length} examples`}
      </p>
    </div>
  );
}

interface OptionProps {
  readonly example: Example;
  readonly selected: boolean;
  readonly onChoose: (example: Example) => void;
}

function Option({ example, selected, onChoose }: OptionProps): JSX.Element {
  const { name, title, capture, description } = example;
  return (
    <div
      id={`example-${name}`}
      class="example"
      role="option"
      aria-selected={selected}
      // The list closes when the line above loses the focus.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => onChoose(example)}
    >
      <span class="example-title">{title}</span>
      <span class="example-name mono">{capture === null ? name : `${name} + ${capture}`}</span>
      <span class="example-about">{description}</span>
    </div>
  );
}
