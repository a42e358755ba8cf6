/** Completion and descriptions: those of the JSON Schema, and what only the document or the engine knows. */
import { getLocation, parseTree, findNodeAtLocation, findNodeAtOffset, getNodePath, type Node } from "jsonc-parser";
import {
  getLanguageService,
  TextDocument,
  type CompletionItem as SchemaItem,
  type CompletionList,
} from "vscode-json-languageservice";
import type { CompletionItem, Completions, Description, Language } from "./api.js";
import { linesOf, matchField, modifyField, shortForm, valuesOf } from "./fields.js";
import { namesAt, sectionsAt, sectionsOfKey, type Named } from "./names.js";
import { editorSnippet, OBJECTS } from "./snippets.js";

type Path = readonly (string | number)[];

/** Deeper text is no document. */
const LONGEST = 2_000_000;
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
    if (text.length > LONGEST) return null;
    const { path, isAtPropertyKey } = getLocation(text, offset);
    const range = wordAt(text, offset);
    const root = parseTree(text);
    const names = namesItems(root, path, isAtPropertyKey);
    if (names !== null) return { ...range, items: names };
    const list = await this.#list(text, offset);
    const items = (list?.items ?? []).map((item) => itemOf(item, path, root));
    if (isAtPropertyKey) return { ...range, items };
    return { ...range, items: [...valueItems(path), ...(await this.#objects(text, offset, path)), ...items] };
  }

  #list(text: string, offset: number): PromiseLike<CompletionList | null> {
    const document = TextDocument.create(`${URI}.json`, "json", 1, text);
    const parsed = this.#service.parseJSONDocument(document);
    return this.#service.doComplete(document, document.positionAt(offset), parsed);
  }

  /** Objects as items of a list: an object of a section, or one for each key that says what the item does. */
  async #objects(text: string, offset: number, path: Path): Promise<CompletionItem[]> {
    const list = path.at(-2);
    if (typeof path.at(-1) !== "number" || typeof list !== "string" || text[offset - 1] === '"') return [];
    const whole = path.length === 2 ? OBJECTS[list] : undefined;
    if (whole !== undefined) {
      const label = `new ${list.replace(/s$/, "")}`;
      return [{ label, kind: "template", snippet: whole, detail: "", about: `An object of ${list}.`, goesOn: false }];
    }
    if (!CHOICES.includes(list)) return [];
    const inside = `${text.slice(0, offset)}{""}${text.slice(offset)}`;
    const keys = await this.#list(inside, offset + 2);
    const root = parseTree(inside);
    return (keys?.items ?? []).map((item) => {
      const { snippet, ...rest } = itemOf(item, [...path, ""], root);
      return { ...rest, kind: "template", snippet: `\\{ ${snippet} \\}` };
    });
  }

  async describe(text: string, offset: number): Promise<Description | null> {
    if (text.length > LONGEST) return null;
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

/** The token at an offset that a completion replaces. */
function wordAt(text: string, offset: number): { from: number; to: number } {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const before = /"(?:[^"\\]|\\.)*$|[\w.+-]*$/.exec(openString(line) ? line.slice(line.lastIndexOf('"')) : line);
  const from = offset - (before?.[0].length ?? 0);
  const quoted = text[from] === '"' && openString(line);
  const rest = quoted ? /^[^"\n,:{}[\]]*"?/ : /^[\w.+-]*/;
  const after = rest.exec(text.slice(offset, offset + 1000))?.[0] ?? "";
  return { from, to: offset + (quoted && !after.endsWith('"') ? 0 : after.length) };
}

/** Whether a line ends inside a string. */
function openString(line: string): boolean {
  return (line.replace(/\\./g, "").split('"').length & 1) === 0;
}

function namesItems(root: Node | undefined, path: Path, isKey: boolean): CompletionItem[] | null {
  const sections = isKey ? sectionsOfKey(path) : sectionsAt(path);
  if (sections === null || sections.length === 0) return null;
  return namesAt(root, path, sections).map((one) => nameItem(one, isKey));
}

function nameItem({ name, path, about }: Named, isKey: boolean): CompletionItem {
  const quoted = JSON.stringify(name).replace(/[{}]/g, "\\$&");
  const snippet = isKey ? `${quoted}: \${}` : quoted;
  return { label: name, kind: "name", snippet, detail: path, about: about ?? "", goesOn: false };
}

/** What a match field can be; the schema has the same examples for all. */
function valueItems(path: Path): CompletionItem[] {
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

function itemOf(item: SchemaItem, path: Path, root: Node | undefined): CompletionItem {
  const { label, documentation = "" } = item;
  const isKey = item.kind === 10;
  const about = typeof documentation === "string" ? documentation : documentation.value;
  const name = label.replace(/^"(.*)"$/, "$1");
  const field = isKey ? matchField(name) : modifyField(name);
  const at = [...path.slice(0, -1), name];
  const refers = isKey && (sectionsAt(at)?.length ?? 0) > 0 && !hasValue(root, at);
  const text = item.textEdit?.newText ?? item.insertText ?? label;
  const snippet = refers ? `${JSON.stringify(name)}: "\${}"` : editorSnippet(text);
  const detail = field === undefined ? "" : shortForm(field);
  const lines = field === undefined ? about : linesOf(field).join("\n");
  return { label: name, kind: isKey ? "key" : "value", snippet, detail, about: lines, goesOn: refers };
}

function hasValue(root: Node | undefined, path: Path): boolean {
  return root !== undefined && findNodeAtLocation(root, [...path]) !== undefined;
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
