/** The button of the examples, whose list is loaded when it is first opened. */
import type { ComponentType, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { loadExamples } from "./examples.js";

interface ListProps {
  readonly onClose: () => void;
}

export function ExampleMenu(): JSX.Element {
  const [List, setList] = useState<ComponentType<ListProps> | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const toggle = async (): Promise<void> => {
    if (List !== null) setList(null);
    else {
      const { ExampleList } = await import("./exampleList.js");
      setList(() => ExampleList);
    }
  };
  return (
    <div
      class="examples"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setList(null);
      }}
    >
      <button
        ref={button}
        type="button"
        aria-expanded={List !== null}
        aria-haspopup="listbox"
        onClick={() => void toggle()}
        onPointerEnter={() => void loadExamples()}
      >
        Examples <span aria-hidden="true">▾</span>
      </button>
      {List !== null && (
        <List
          onClose={() => {
            setList(null);
            button.current?.focus();
          }}
        />
      )}
    </div>
  );
}
