/** A line below the editor: what stands at the cursor, and how Tab leaves. */
import { showPanel, ViewPlugin, type EditorView, type Panel, type ViewUpdate } from "@codemirror/view";
import { headerFieldOf } from "flowsteer/packet";
import { way } from "../../state/selection.js";
import { describeToken } from "./describe.js";
import { tabIndents } from "./tabs.js";

/** Milliseconds that the cursor rests before its token is looked up. */
const REST = 150;
const lines = new WeakMap<EditorView, HTMLElement>();

function panelOf(view: EditorView): Panel {
  const dom = document.createElement("div");
  dom.className = "cm-tokenLine";
  const token = dom.appendChild(document.createElement("span"));
  const leave = dom.appendChild(document.createElement("span"));
  leave.className = "cm-tokenLeave";
  lines.set(view, token);
  const update = (now: ViewUpdate["state"]): void => {
    leave.textContent = now.field(tabIndents) ? "Escape, then Tab, leaves the editor" : "Tab leaves the editor";
  };
  update(view.state);
  return { dom, update: ({ state }) => update(state) };
}

/** What the selected frame has in a field. */
function valueInFrame(name: string | null): string[] {
  const found = way.peek();
  const tree = found?.snapshots[0]?.tree;
  const field = name === null || tree === undefined ? null : headerFieldOf(tree, name);
  return found === null || field === null ? [] : [`frame ${found.frame} has ${field.field.text}`];
}

const follows = ViewPlugin.fromClass(
  class {
    #timer: ReturnType<typeof setTimeout> | undefined;

    update({ view, selectionSet, docChanged, focusChanged }: ViewUpdate): void {
      if (!selectionSet && !docChanged && !focusChanged) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#show(view), REST);
    }

    destroy(): void {
      clearTimeout(this.#timer);
    }

    async #show(view: EditorView): Promise<void> {
      const { head } = view.state.selection.main;
      const { name, lines: said } = await describeToken(view, head);
      const line = lines.get(view);
      if (line === undefined || head !== view.state.selection.main.head) return;
      const parts = [...(name === null ? [] : [name]), ...valueInFrame(name), ...said];
      line.textContent = parts.join(" · ");
      line.title = parts.join("\n");
    }
  },
);

export const tokenLine = [showPanel.of(panelOf), follows];
