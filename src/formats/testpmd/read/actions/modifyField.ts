/** The action modify_field: sets, adds to or copies a field. */
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { CHANGE_FIELDS } from "../../fields/changes.js";
import { numberAt, unknownWord } from "../values.js";

interface End {
  readonly word: Word;
  readonly type: string;
  level: bigint;
  offset: bigint;
}

export interface FieldChange {
  readonly word: Word;
  readonly operation: "set" | "add" | "sub";
  readonly into: End;
  readonly from: End;
  /** The bytes of a value, as they stand. */
  readonly bytes: string | undefined;
  readonly width: number;
}

const OPERATIONS = ["set", "add", "sub"];
const IMMEDIATE: Readonly<Record<string, string>> = { value: "src_value", pointer: "src_ptr" };

/** @throws NotImported */
export function readModifyField(words: Cursor): FieldChange {
  expect(words, "op");
  const word = words.next("the operation");
  if (!OPERATIONS.includes(word.text)) unknownWord(word, "operation", OPERATIONS);
  const into = readEnd(words, "dst");
  if (IMMEDIATE[into.type] !== undefined) notImported(into.word, "a value cannot be changed");
  const from = readEnd(words, "src");
  let bytes: string | undefined;
  const key = IMMEDIATE[from.type];
  if (key !== undefined) {
    expect(words, key);
    const value = words.next("the bytes of the value");
    if (!/^(?:0x)?(?:[0-9a-f]{2}){1,16}$/i.test(value.text))
      notImported(value, "a value is 1 to 16 bytes as hexadecimal digits");
    bytes = value.text.replace(/^0x/i, "").toLowerCase();
  }
  expect(words, "width");
  const width = Number(numberAt(words.next("the width"), "width", 32));
  expect(words, "/");
  return { word, operation: word.text as FieldChange["operation"], into, from, bytes, width };
}

function readEnd(words: Cursor, side: "dst" | "src"): End {
  expect(words, `${side}_type`);
  const word = words.next(`the field of ${side}_type`);
  const names = [...Object.keys(CHANGE_FIELDS), ...(side === "src" ? Object.keys(IMMEDIATE) : [])];
  if (!names.includes(word.text)) unknownWord(word, "field", names);
  const end: End = { word, type: word.text, level: 0n, offset: 0n };
  for (;;) {
    if (words.take(`${side}_level`)) end.level = numberAt(words.next("a level"), "level", 32);
    else if (words.take(`${side}_offset`)) end.offset = numberAt(words.next("an offset"), "offset", 32);
    else return end;
  }
}

function expect(words: Cursor, text: string): void {
  if (words.take(text)) return;
  const word = words.next(`"${text}"`);
  notImported(word, `"${text}" is missing before ${word.text}`);
}
