/**
 * The languages of other programs in the editor. Their words are those of the importers; comments, numbers, addresses and
 * strings look alike in all of them.
 */
import { StreamLanguage, type StringStream } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { FormatWord } from "../../importing/api.js";

/** An address, a prefix, a number with or without its unit; a name that begins with digits is none. */
const VALUE =
  /^(?:[\da-f]{2}(?::[\da-f]{2}){5}|[\da-f]*:[\da-f]*:[\da-f:.]*|\d+(?:\.\d+){3}|0x[\da-f]+|\d+)(?:\/[\w.:]+)?(?![\w.])/i;
/** A root prompt before a command, which is no comment. */
const PROMPT = /^#\s*(?:sudo\s+)?(?:\S*\/)?(?:flow [a-z]|tc |ethtool |ovs-\w+ |nft |ip )/;
const WORD = /^-{0,2}[a-z_$][\w.-]*/i;

/** @param words those of the format */
export function sourceLanguage(words: readonly FormatWord[]): Extension {
  const known = new Map<string, "keyword" | "propertyName">();
  for (const { word, group } of words) {
    for (const part of word.split(" ")) known.set(part, isCommand(group) ? "keyword" : "propertyName");
  }
  const language = StreamLanguage.define<{ atStart: boolean }>({
    startState: () => ({ atStart: true }),
    token: (stream) => tokenOf(stream, known),
    tokenTable: { keyword: tags.bool, propertyName: tags.propertyName },
    languageData: { commentTokens: { line: "#" } },
  });
  return [
    language,
    language.data.of({ autocomplete: completing(words) }),
    EditorState.tabSize.of(8),
    EditorView.contentAttributes.of({
      tabindex: "0",
      "aria-description": "Rules of another program. Escape, then Tab, leaves the editor.",
    }),
  ];
}

/** What is done, as opposed to what is matched. */
function isCommand(group: string): boolean {
  return /command|action|statement|object/i.test(group);
}

function tokenOf(stream: StringStream, known: ReadonlyMap<string, string>): string | null {
  if (stream.eatSpace()) return null;
  const isFirst = /^\s*$/.test(stream.string.slice(0, stream.pos)) || /\s/.test(stream.string.charAt(stream.pos - 1));
  if (isFirst && !stream.match(PROMPT, false) && (stream.peek() === "#" || stream.match("//", false))) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'[^']*'?/)) return "string";
  if (stream.match(VALUE)) return "number";
  const word = stream.match(WORD);
  if (typeof word === "object" && word !== null) return known.get(word[0]) ?? null;
  stream.next();
  return null;
}

function completing(words: readonly FormatWord[]): (context: CompletionContext) => CompletionResult | null {
  const able = words.filter(({ becomes }) => becomes !== null);
  const items = new Set(able.flatMap(({ of }) => of ?? []));
  return (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const [typed = ""] = /[\w.-]*$/.exec(before) ?? [];
    if (typed === "" && !context.explicit) return null;
    // The fields of an item stand between it and the next slash.
    const [, item] = /(?:\bpattern|\/)\s+([\w-]+)\s[^/]*$/.exec(before) ?? [];
    const of = item !== undefined && items.has(item) ? item : null;
    const options = able.filter((word) => word.of === of).map(optionOf);
    return { from: context.pos - typed.length, options, validFor: /^[\w.-]*$/ };
  };
}

function optionOf({ word, group, becomes }: FormatWord): Completion {
  return {
    label: word,
    type: isCommand(group) ? "keyword" : "property",
    detail: group,
    ...(becomes !== null && becomes !== "" && { info: becomes.replaceAll("`", "") }),
  };
}
