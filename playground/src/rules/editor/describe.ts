/** Descriptions of what stands in the text: under the pointer, and by a key at the cursor. */
import { forEachDiagnostic } from "@codemirror/lint";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import { announcement } from "../announcement.js";
import type { Description } from "../language/api.js";
import { language } from "../language/client.js";
import { rangeOfObject } from "./objects.js";
import { isSource } from "./sync.js";

const say = StateEffect.define<Tooltip | null>();

/** The description at the cursor, until the text or the cursor changes. */
const atCursor = StateField.define<Tooltip | null>({
  create: () => null,
  update(before, { effects, docChanged, selection }) {
    for (const one of effects) if (one.is(say)) return one.value;
    return docChanged || selection !== undefined ? null : before;
  },
  provide: (field) => showTooltip.from(field),
});

export const describing: Extension = [
  atCursor,
  hoverTooltip(
    async (view, pos) => {
      const found = await describe(view, pos);
      return found === null || pos < found.from || pos > found.to ? null : tooltipOf(found, []);
    },
    { hideOnChange: true },
  ),
  keymap.of([
    { key: "F2", run: describeAtCursor },
    { key: "F12", run: goToDefinition },
    { key: "Escape", run: hide },
  ]),
];

/** What is known of a place; of texts of other programs, findings alone. */
async function describe(view: EditorView, at: number): Promise<Description | null> {
  return isSource(view.state) ? null : language().describe(view.state.doc.toString(), at);
}

function findingsAt(view: EditorView, at: number): string[] {
  const messages: string[] = [];
  forEachDiagnostic(view.state, ({ message }, from, to) => {
    if (from <= at && at <= to) messages.push(message);
  });
  return messages;
}

/** What stands at a place, findings first. */
export async function describeToken(view: EditorView, at: number): Promise<Pick<Description, "name" | "lines">> {
  const found = await describe(view, at);
  return { name: found?.name ?? null, lines: [...findingsAt(view, at), ...(found?.lines ?? [])] };
}

/** Shows and announces what stands at the cursor, with the findings there. */
export function describeAtCursor(view: EditorView): boolean {
  const at = view.state.selection.main.head;
  const messages = findingsAt(view, at);
  void describe(view, at).then((found) => {
    if (view.state.selection.main.head !== at) return;
    const shown =
      found ?? (messages.length === 0 ? null : { from: at, to: at, name: null, lines: [], definition: null });
    const words = [...messages, ...(found === null ? [] : [found.name ?? "", ...found.lines])].filter(Boolean);
    announcement.value = words.length === 0 ? "Nothing is known of this place." : words.join("\n");
    view.dispatch({ effects: say.of(shown === null ? null : tooltipOf(shown, messages)) });
  });
  return true;
}

/** Moves the cursor to the object whose name stands at the cursor. */
export function goToDefinition(view: EditorView): boolean {
  void language()
    .describe(view.state.doc.toString(), view.state.selection.main.head)
    .then((found) => {
      const range = found === null || found.definition === null ? null : rangeOfObject(view.state, found.definition);
      if (range === null) return;
      view.dispatch({
        selection: { anchor: range.from + 1 },
        effects: EditorView.scrollIntoView(range.from, { y: "center" }),
      });
    });
  return true;
}

function hide(view: EditorView): boolean {
  if (view.state.field(atCursor) === null) return false;
  view.dispatch({ effects: say.of(null) });
  return true;
}

function tooltipOf(found: Description, messages: readonly string[]): Tooltip {
  return {
    pos: found.from,
    end: found.to,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      for (const message of messages) add(add(dom, "div", "cm-about cm-diagnostic-error"), "p", "", message);
      if (found.lines.length > 0) {
        const about = add(dom, "div", "cm-about");
        if (found.name !== null) add(about, "p", "cm-aboutName", found.name);
        for (const line of found.lines) add(about, "p", "", line);
        if (found.definition !== null) add(about, "p", "cm-aboutForm", "F12 goes there.");
      }
      return { dom };
    },
  };
}

function add(parent: HTMLElement, tag: string, name: string, text = ""): HTMLElement {
  const element = document.createElement(tag);
  if (name !== "") element.className = name;
  element.textContent = text;
  return parent.appendChild(element);
}
