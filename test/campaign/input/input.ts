/**
 * The input of a target: the words that its generator draws. All choices of a generator come from words (`Random.word`),
 * so a changed word is another input, and fewer words are a smaller one.
 *
 * Most inputs are parts of random streams, and are kept as such: a seed, a place and a length in place of the words.
 *
 *     @1f:0-40 =0*3,ff @1f:43       40 words of stream 1f, three words 0, a word ff, then the stream from word 43 on
 *     =1,2 0                        two words, then zeros
 */
import { Random } from "../../oracle/generate/random.js";

/** Words from `from` on of the stream of a seed. */
export interface StreamPiece {
  readonly seed: number;
  readonly from: number;
  readonly length: number;
}

export interface WordsPiece {
  readonly words: readonly number[];
}

export type Piece = StreamPiece | WordsPiece;

export interface Input {
  readonly pieces: readonly Piece[];
  /** Where the words after all pieces come from; null: they are 0. */
  readonly rest: Omit<StreamPiece, "length"> | null;
}

/** All words from one stream. */
export function inputOf(seed: number): Input {
  return { pieces: [], rest: { seed: seed >>> 0, from: 0 } };
}

/** These words, then zeros. */
export function inputOfWords(words: readonly number[]): Input {
  return { pieces: words.length === 0 ? [] : [{ words }], rest: null };
}

export const lengthOf = (piece: Piece): number => ("words" in piece ? piece.words.length : piece.length);

/** The words of an input from its beginning, one a call. */
export function wordsOf({ pieces, rest }: Input): () => number {
  let [next, left] = [0, 0];
  let source: () => number = () => 0;
  return () => {
    while (left === 0) {
      const piece = pieces[next++];
      if (piece === undefined) {
        source = rest === null ? () => 0 : streamOf(rest);
        left = Infinity;
        break;
      }
      left = lengthOf(piece);
      source = "words" in piece ? listed(piece.words) : streamOf(piece);
    }
    left--;
    return source();
  };
}

function streamOf({ seed, from }: Omit<StreamPiece, "length">): () => number {
  const random = Random.after(seed, from);
  return () => random.word();
}

function listed(words: readonly number[]): () => number {
  let at = 0;
  return () => words[at++] ?? 0;
}

/** The first `count` words of an input, as pieces. */
export function head({ pieces, rest }: Input, count: number): Piece[] {
  const taken: Piece[] = [];
  let left = count;
  for (const piece of pieces) {
    if (left === 0) return taken;
    const length = Math.min(lengthOf(piece), left);
    taken.push("words" in piece ? { words: piece.words.slice(0, length) } : { ...piece, length });
    left -= length;
  }
  if (left > 0) taken.push(rest === null ? { words: Array<number>(left).fill(0) } : { ...rest, length: left });
  return taken;
}

/** What is left of an input without its first `count` words. */
export function tail({ pieces, rest }: Input, count: number): Input {
  const kept: Piece[] = [];
  let skip = count;
  for (const piece of pieces) {
    const length = lengthOf(piece);
    const cut = Math.min(skip, length);
    skip -= cut;
    if (cut === length) continue;
    if ("words" in piece) kept.push({ words: piece.words.slice(cut) });
    else kept.push({ ...piece, from: piece.from + cut, length: length - cut });
  }
  return { pieces: kept, rest: rest === null ? null : { ...rest, from: rest.from + skip } };
}

export function textOf({ pieces, rest }: Input): string {
  const parts = pieces.map((piece) =>
    "words" in piece ? `=${wordsText(piece.words)}` : `${placeText(piece)}-${piece.from + piece.length}`,
  );
  return [...parts, rest === null ? "0" : placeText(rest)].join(" ");
}

const placeText = ({ seed, from }: Omit<StreamPiece, "length">): string => `@${seed.toString(16)}:${from}`;

/** Hexadecimal, with the same word several times as `word*times`. */
function wordsText(words: readonly number[]): string {
  const runs: { word: number; times: number }[] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last?.word === word) last.times++;
    else runs.push({ word, times: 1 });
  }
  return runs.map(({ word, times }) => `${word.toString(16)}${times === 1 ? "" : `*${times}`}`).join(",");
}

/** @throws Error the text is no input */
export function parseInput(text: string): Input {
  const parts = text.trim().split(" ");
  const last = parts.pop() ?? "";
  const rest = last === "0" ? null : placeOf(last);
  if (rest === undefined) throw new Error(`no input: ${JSON.stringify(text.slice(0, 80))}`);
  return { pieces: parts.map(pieceOf), rest };
}

function pieceOf(text: string): Piece {
  if (text.startsWith("=")) return { words: text.slice(1).split(",").flatMap(runOf) };
  const [, place = "", end = ""] = /^(@.*)-(\d+)$/.exec(text) ?? [];
  const found = placeOf(place);
  if (found === undefined) throw new Error(`no piece of an input: ${JSON.stringify(text.slice(0, 80))}`);
  return { ...found, length: Number(end) - found.from };
}

function placeOf(text: string): Omit<StreamPiece, "length"> | undefined {
  const [, seed, from] = /^@([0-9a-f]{1,8}):(\d+)$/.exec(text) ?? [];
  return seed === undefined ? undefined : { seed: parseInt(seed, 16), from: Number(from) };
}

function runOf(text: string): number[] {
  const [, word, times = "1"] = /^([0-9a-f]{1,8})(?:\*(\d+))?$/.exec(text) ?? [];
  if (word === undefined) throw new Error(`no word of an input: ${JSON.stringify(text.slice(0, 80))}`);
  return Array<number>(Number(times)).fill(parseInt(word, 16));
}
