/** Completion and descriptions: those of the JSON Schema, and what only the document or the engine knows. */
import { getLocation, parseTree, findNodeAtOffset, getNodePath, type Node } from "jsonc-parser";
import {
  getLanguageService,
  TextDocument,
  type CompletionItem as SchemaItem,
  type CompletionList,
} from "vscode-json-languageservice";
import { tooDeep } from "../../text/places.js";
import type { CompletionItem, Completions, Description, Language } from "./api.js";
import { linesOf, matchField, modifyField, shortForm, valuesOf } from "./fields.js";
import { namesAt, sectionsAt, sectionsOfKey } from "./names.js";
import { editorSnippet, literal, OBJECTS } from "./snippets.js";

type Path = readonly (string | number)[];

/** Longer text is not read. */
const MAX_LENGTH = 2_000_000;
const URI = "flowsteer:scenario";
/** Lists whose items are words or objects with one key. */
const CHOICES = ["actions", "specs", "array", "modify", "sample_actions"];

export class SchemaLanguage implements Language {
  readonly #service;

  constructor(schema: object) {
    const text = JSON.stringify(schema);
    this.#service = getLanguageService({
      // Whatever schema a document names, this one is meant: nothing is fetched.
      schemaRequestService: () => Promise.resolve(text),
      workspaceContext: { resolveRelativePath: () => URI },
      clientCapabilities: {
        textDocument: {
          completion: { completionItem: { documentationFormat: ["plaintext"], commitCharactersSupport: false } },
          hover: { contentFormat: ["plaintext"] },
        },
      },
    });
    this.#service.configure({
      validate: false,
      schemas: [{ uri: URI, fileMatch: ["*"], schema: schema }],
    });
  }

  async complete(text: string, offset: number): Promise<Completions | null> {
    if (text.length > MAX_LENGTH || tooDeep(text)) return null;
    const { path, isAtPropertyKey } = getLocation(text, offset);
    const range = wordAt(text, offset);
    const root = parseTree(text);
    const place: PlaceOfWord = { text, range, path, root };
    const names = namesItems(place, isAtPropertyKey);
    if (names !== null) return { ...range, items: names };
    if (isAtPropertyKey) return { ...range, items: await this.#keys(place) };
    const list = await this.#list(...standIn(place));
    const items = (list?.items ?? []).map((item) => valueItem(item, place));
    const objects = await this.#objects(place);
    const values = items.filter(({ label }) => label !== "{}" || objects.length === 0);
    return { ...range, items: [...fieldItems(path), ...objects, ...values] };
  }

  async #keys(place: PlaceOfWord): Promise<CompletionItem[]> {
    const { text, range } = place;
    const hasColon = /^\s*:/.test(text.slice(range.to, range.to + 1000));
    const list = await this.#list(...standIn(place, hasColon ? "" : ","));
    return (list?.items ?? []).map((item) => keyItem(item, place, hasColon));
  }

  #list(text: string, offset: number): PromiseLike<CompletionList | null> {
    const document = TextDocument.create(`${URI}.json`, "json", 1, text);
    const parsed = this.#service.parseJSONDocument(document);
    return this.#service.doComplete(document, document.positionAt(offset), parsed);
  }

  /** Objects as items of a list: an object of a section, or one for each key that says what the item does. */
  async #objects(place: PlaceOfWord): Promise<CompletionItem[]> {
    const { text, range, path, root } = place;
    const list = path.at(-2);
    if (typeof path.at(-1) !== "number" || typeof list !== "string" || text[range.from] === '"') return [];
    const whole = path.length === 2 ? OBJECTS[list] : undefined;
    if (whole !== undefined) {
      const label = `new ${list.replace(/s$/, "")}`;
      const snippet = whole + separator(text, range.to);
      return [{ label, kind: "template", snippet, detail: "", about: `An object of ${list}.`, goesOn: false }];
    }
    if (!CHOICES.includes(list)) return [];
    const inside = `${text.slice(0, range.from)}{""}${text.slice(range.to)}`;
    const keys = await this.#list(inside, range.from + 2);
    // Its text ends with the brace of the object.
    const one: PlaceOfWord = { text: "}", range: { from: 0, to: 0 }, path: [...path, ""], root };
    return (keys?.items ?? []).map((item) => {
      const { snippet, ...rest } = keyItem(item, one, false);
      return { ...rest, kind: "template", snippet: `\\{ ${snippet} \\}${separator(text, range.to)}` };
    });
  }

  async describe(text: string, offset: number): Promise<Description | null> {
    if (text.length > MAX_LENGTH || tooDeep(text)) return null;
    const root = parseTree(text);
    const node = root === undefined ? undefined : findNodeAtOffset(root, offset, true);
    if (root === undefined || node === undefined) return null;
    const isKey = node.parent?.type === "property" && node.parent.children?.[0] === node;
    const path = getNodePath(isKey ? (node.parent?.children?.[1] ?? node) : node);
    const own = ownDescription(root, node, path, isKey);
    const lines = [...own.lines, ...(own.complete ? [] : await this.#about(text, node, isKey))];
    if (lines.length === 0) return null;
    return { from: node.offset, to: node.offset + node.length, name: own.name, lines, definition: own.definition };
  }

  /** What the schema says of a place. */
  async #about(text: string, { offset, type }: Node, isKey: boolean): Promise<string[]> {
    // Inside a list or an object the schema describes the whole of it, which the key does.
    if (!isKey && (type === "object" || type === "array")) return [];
    const document = TextDocument.create(`${URI}.json`, "json", 1, text);
    const parsed = this.#service.parseJSONDocument(document);
    const hover = await this.#service.doHover(document, document.positionAt(offset + 1), parsed);
    const contents = hover === null ? [] : Array.isArray(hover.contents) ? hover.contents : [hover.contents];
    return contents
      .map((one) => (typeof one === "string" ? one : one.value))
      .flatMap((one) => one.split(/\n+/))
      .map((line) => line.replace(/\\([^\w\s])|\\(_)/g, "$1$2").trim())
      .filter((line) => line !== "");
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A word of a text that is completed. */
interface PlaceOfWord {
  readonly text: string;
  readonly range: Range;
  readonly path: Path;
  readonly root: Node | undefined;
}

/** The text with an empty string for the word, and a place in it: what is half written confuses no parser. */
function standIn({ text, range, path }: PlaceOfWord, after = ""): [text: string, offset: number] {
  const inList = typeof path.at(-1) === "number";
  const more = inList ? separator(text, range.to) : after;
  return [`${text.slice(0, range.from)}""${more}${text.slice(range.to)}`, range.from + 1];
}

/** The comma that what follows needs. */
function separator(text: string, at: number): string {
  return /^\s*(?:[\]},]|$)/.test(text.slice(at, at + 1000)) ? "" : ",";
}

/** The token at an offset that a completion replaces. */
function wordAt(text: string, offset: number): Range {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const quoted = isInString(line);
  const before = quoted ? line.length - line.lastIndexOf('"') : (/[\w.+-]*$/.exec(line)?.[0].length ?? 0);
  const rest = text.slice(offset, offset + 1000);
  const after = (quoted ? /^[^"\n,:{}[\]]*"|/ : /^[\w.+-]*/).exec(rest)?.[0] ?? "";
  return { from: offset - before, to: offset + after.length };
}

/** Whether a line ends inside a string. */
function isInString(line: string): boolean {
  return (line.replace(/\\./g, "").split('"').length & 1) === 0;
}

function namesItems({ text, range, path, root }: PlaceOfWord, isKey: boolean): CompletionItem[] | null {
  const sections = isKey ? sectionsOfKey(path) : sectionsAt(path);
  if (sections === null || sections.length === 0) return null;
  const comma = separator(text, range.to);
  const end = !isKey ? comma : /^\s*:/.test(text.slice(range.to)) ? "" : `: \${}${comma}`;
  return namesAt(root, path, sections).map(({ name, path: detail, about }) => {
    const snippet = literal(JSON.stringify(name)) + end;
    return { label: name, kind: "name", snippet, detail, about: about ?? "", goesOn: false };
  });
}

/** What a match field can be; the schema has the same examples for all. */
function fieldItems(path: Path): CompletionItem[] {
  const field = fieldOf(path);
  if (field === undefined) return [];
  return [...valuesOf(field), '"any"'].map((value) => ({
    label: value.replaceAll('"', ""),
    kind: "value",
    snippet: value,
    detail: "",
    about: value === '"any"' ? "The header is there, with any value." : field.written,
    goesOn: false,
  }));
}

function keyItem(item: SchemaItem, { text, range, path }: PlaceOfWord, hasColon: boolean): CompletionItem {
  const { label } = item;
  const field = path.at(-2) === "match" || path.at(-2) === "mask" ? matchField(label) : undefined;
  const refers = (sectionsAt([...path.slice(0, -1), label])?.length ?? 0) > 0;
  const written = editorSnippet(item.textEdit?.newText ?? item.insertText ?? label).replace(/,$/, "");
  const key = literal(JSON.stringify(label));
  const value = refers ? '"${}"' : written.startsWith(`${key}: `) ? written.slice(key.length + 2) : "${}";
  return {
    label,
    kind: "key",
    snippet: hasColon ? key : `${key}: ${value}${separator(text, range.to)}`,
    detail: field === undefined ? "" : shortForm(field),
    about: field === undefined ? aboutOf(item) : linesOf(field).join("\n"),
    goesOn: refers && !hasColon,
  };
}

function valueItem(item: SchemaItem, { text, range, path }: PlaceOfWord): CompletionItem {
  const label = item.label.replace(/^"(.*)"$/, "$1");
  const field = modifyField(label);
  const written = editorSnippet(item.textEdit?.newText ?? item.insertText ?? item.label).replace(/,$/, "");
  return {
    label,
    kind: "value",
    snippet: written + (typeof path.at(-1) === "number" ? separator(text, range.to) : ""),
    detail: field === undefined ? "" : shortForm(field),
    about: field === undefined ? aboutOf(item) : linesOf(field).join("\n"),
    goesOn: false,
  };
}

function aboutOf({ documentation = "" }: SchemaItem): string {
  return typeof documentation === "string" ? documentation : documentation.value;
}

/** The match field whose value is at a path. */
function fieldOf(path: Path): ReturnType<typeof matchField> {
  const [within, name] = path.slice(-2);
  return within === "match" && typeof name === "string" ? matchField(name) : undefined;
}

interface OwnDescription {
  readonly name: string | null;
  readonly lines: readonly string[];
  /** Whether the schema has nothing to add. */
  readonly complete: boolean;
  readonly definition: string | null;
}

function ownDescription(root: Node, node: Node, path: Path, isKey: boolean): OwnDescription {
  const value: unknown = node.value;
  const last = path.at(-1);
  const field =
    typeof last === "string" && ["match", "mask", "fields"].includes(String(path.at(-2)))
      ? matchField(last)
      : undefined;
  if (field !== undefined) return { name: field.name, lines: linesOf(field), complete: true, definition: null };
  const sections = isKey ? sectionsOfKey(path) : sectionsAt(path);
  const named = namesAt(root, path, sections ?? []).find(({ name }) => name === value);
  if (named !== undefined) {
    const lines = [`${named.path}${named.about === null ? "" : `: ${named.about}`}`];
    return { name: named.name, lines, complete: isKey, definition: named.path };
  }
  const changed = !isKey && typeof value === "string" ? modifyField(value) : undefined;
  if (changed !== undefined) {
    return {
      name: changed.name,
      lines: linesOf(changed).map((line) => line.replace("never matches", "is not changed")),
      complete: false,
      definition: null,
    };
  }
  return { name: isKey ? String(value) : null, lines: [], complete: false, definition: null };
}
