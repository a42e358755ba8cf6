/** The place of the selected frame in the list, and moves of it. */
import { effect, signal, untracked } from "@preact/signals";
import { engine } from "../engine/client.js";
import { engineLife } from "./answer.js";
import { isNarrowing, listed } from "./frameList.js";
import { selectedFrame } from "./selection.js";
import { until } from "./until.js";

/** The place of the selected frame in the list, from 0; -1 if it is not there. */
export const cursor = signal(-1);

/** The frame that was selected at the cursor, whose place need not be asked for. */
let own: number | null = null;

/** Begins. @returns ends it */
export function startCursor(): () => void {
  return effect(() => {
    const [frame, list] = [selectedFrame.value, listed.value];
    const isOther = frame !== selected;
    selected = frame;
    if (frame !== null && frame === own && list === untracked(() => seen)) return;
    // A frame that is selected elsewhere ends a move that waits for its frame.
    if (isOther) choices++;
    const isFiltered = list?.filter !== seen?.filter && seen !== null;
    seen = list;
    own = null;
    void moving(find(frame, isFiltered));
  });
}

let seen: typeof listed.value = null;
let selected: number | null = null;

/** @param isFiltered whether another filter left the frames: the selected one is one of them then */
async function find(frame: number | null, isFiltered: boolean): Promise<void> {
  const list = listed.peek();
  const place = frame === null || list === null ? -1 : await engine().placeOf(frame);
  if (frame !== selectedFrame.peek() || list !== listed.peek()) return;
  cursor.value = place;
  // Another list says itself which frame is selected; one that was just added is in the next list.
  if (place === -1 && isFiltered && (frame ?? 0) <= (list?.of ?? 0)) await selectIn(list, 0);
}

/** Counts the places and frames that were chosen. */
let choices = 0;

/** Selects the frame at a place, in the next list if it comes first. @param number of the frame, if it is known */
export async function selectPlace(place: number, number?: number): Promise<void> {
  await moving(selectInNext(place, number));
}

async function selectInNext(place: number, number?: number): Promise<void> {
  const list = listed.peek();
  if ((await selectIn(list, place, number)) && listed.peek() !== list) await selectInNext(place);
}

/** Moves that wait for their frame. Those of an engine that was ended wait in vain. */
const underWay = signal({ life: 0, moves: 0 });

async function moving(move: Promise<void>): Promise<void> {
  const life = engineLife.peek();
  const count = (by: number): void => {
    const { life: of, moves } = underWay.peek();
    if (life === engineLife.peek()) underWay.value = { life, moves: (life === of ? moves : 0) + by };
  };
  count(1);
  await move;
  count(-1);
}

/** Resolves when the list is that of the filter of the moment, and the keys pressed until now have selected their frame in it. */
export function untilSelected(): Promise<void> {
  return until(() => {
    const { life, moves } = underWay.value;
    return !isNarrowing.value && (life !== engineLife.value || moves === 0);
  });
}

/** @returns whether no other place was chosen meanwhile */
async function selectIn(list: typeof seen, place: number, number?: number): Promise<boolean> {
  if (list === null || list.count === 0) return false;
  const choice = ++choices;
  const target = Math.min(Math.max(place, 0), list.count - 1);
  cursor.value = target;
  const frame = number ?? (await engine().rows(target, 1))[0]?.number;
  // Another place was chosen.
  if (choice !== choices) return false;
  if (frame === undefined || listed.peek() !== list) return true;
  own = frame;
  // `find` may have put the cursor back to the frame that was selected until now.
  cursor.value = target;
  selectedFrame.value = frame;
  return true;
}

/** Selects the frame that is `by` places further. */
export function moveCursor(by: number): void {
  void selectPlace(cursor.peek() === -1 ? 0 : cursor.peek() + by);
}
