/** Completion by the language worker. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  snippet,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import type { CompletionItem } from "../language/api.js";
import { language } from "../language/client.js";
import { isSource } from "./sync.js";

export const completing: Extension = [
  autocompletion({ override: [source], icons: false, maxRenderedOptions: 200 }),
  closeBrackets(),
  keymap.of([...closeBracketsKeymap, ...completionKeymap]),
];

async function source(context: CompletionContext): Promise<CompletionResult | null> {
  const { pos, state, explicit } = context;
  if (isSource(state)) {
    const [ofLanguage] = state.languageDataAt<CompletionSource>("autocomplete", pos);
    return ofLanguage === undefined ? null : ofLanguage(context);
  }
  const before = state.sliceDoc(Math.max(0, pos - 200), pos);
  if (!explicit && !/["\w.]$/.test(before)) return null;
  const text = state.doc.toString();
  const found = await language().complete(text, pos);
  if (found === null || found.items.length === 0) return null;
  // Names are compared without the quote in front of them.
  const quote = text[found.from] === '"' && found.from < pos ? 1 : 0;
  const after = found.to - pos;
  return {
    from: found.from + quote,
    to: pos,
    options: found.items.map((item) => optionOf(item, quote, after)),
    validFor: /^[\w.:/+-]*$/,
  };
}

const TYPES: Readonly<Record<CompletionItem["kind"], string>> = {
  key: "property",
  value: "constant",
  name: "variable",
  template: "class",
};

function optionOf(
  { label, kind, snippet: text, detail, about, goesOn }: CompletionItem,
  quote: number,
  after: number,
): Completion {
  const put = snippet(text);
  return {
    label,
    type: TYPES[kind],
    detail,
    boost: kind === "name" ? 1 : 0,
    ...(about === "" ? {} : { info: () => paragraph(about) }),
    apply: (view, completion, from, to) => {
      put(view, completion, from - quote, Math.min(to + after, view.state.doc.length));
      if (goesOn) startCompletion(view);
    },
  };
}

function paragraph(text: string): Node {
  const element = document.createElement("div");
  for (const line of text.split("\n")) element.appendChild(document.createElement("div")).textContent = line;
  return element;
}
