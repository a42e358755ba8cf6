/** The palette: every action of the page, and what it can go to, found by typing. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { commands, type Command } from "../state/commands.js";
import type { ViewProps } from "../parts/viewProps.js";
import { goTo } from "./goTo.js";
import { search } from "./search.js";

export function Palette({ onClose }: ViewProps): JSX.Element {
  const [text, setText] = useState("");
  const [selected, setSelected] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = [...goTo(text), ...search(commands.value, text)];
  const at = Math.min(selected, found.length - 1);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: "nearest" }), [at]);
  // The dialog gives the focus back before the action begins.
  const chosen = useRef<Command | null>(null);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    chosen.current = command;
    list.current?.closest("dialog")?.close();
  };
  const closed = (): void => {
    onClose();
    chosen.current?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + found.length }[event.key];
    if (to !== undefined) setSelected(to % Math.max(found.length, 1));
    else if (event.key === "Enter") run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Actions" class="palette" head={false} onClose={closed}>
      <input
        type="text"
        role="combobox"
        aria-label="Search actions"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={found[at] === undefined ? undefined : `palette-${at}`}
        placeholder="Search actions"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setSelected(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul ref={list} id="palette-list" role="listbox" aria-label="Actions">
        {found.map((command, index) => (
          <li
            key={command.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onPointerMove={() => setSelected(index)}
            onClick={() => run(command)}
          >
            <span>{command.title}</span>
            {command.key !== undefined && <kbd>{command.key}</kbd>}
          </li>
        ))}
      </ul>
      <p class={found.length === 0 ? "palette-none" : "visually-hidden"} role="status">
        {found.length === 0 ? "No matching action." : `${found.length} actions`}
      </p>
    </Dialog>
  );
}
