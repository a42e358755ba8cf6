/**
 * The replay window: the highest authenticated sequence number, and a ring of bits for the numbers
 * below it (RFC 6479; layout in src/abi/esp.ts).
 * The ring has at least one word more than the window needs, so that whole words are cleared when
 * the window moves. Bits of numbers above the highest are 0 in its word.
 */
import { ESP_NUMBER, ESP_WINDOW, ESP_WINDOW_SIZE, ESP_WINDOW_WORDS } from "../../src/abi/esp";
import { Reason } from "../../src/abi/outcome";
import { Check, StateKind } from "../../src/abi/trace";
import { noteCheck, noteState } from "../branch/events";

/**
 * The largest shift of the window by one packet (ibv_flow_action_esp(3), "Bitmap Replay
 * Protection").
 */
const MAX_SHIFT: u64 = 1 << 31;
/**
 * The window size for inferring the upper half of a number when there is no window (RFC 4303, A.2).
 */
const NO_WINDOW: u32 = 0x80000000;

/** The largest distance of a packet's number below the highest number. */
function reachOf(association: usize): u32 {
  const size = load<u32>(association, ESP_WINDOW_SIZE);
  return (size == 0 ? NO_WINDOW : size) - 1;
}

/**
 * The number of a packet with these lower bits, from the highest number so far (RFC 4303, A.2.1 and
 * A.2.2).
 */
export function infer(association: usize, low: u32): u64 {
  const top = load<u64>(association, ESP_NUMBER);
  const reach = reachOf(association);
  const bottom = <u32>top - reach;
  let upper = <u32>(top >> 32);
  if (<u32>top >= reach) {
    if (low < bottom) upper++;
  } else if (low >= bottom) {
    upper--;
  }
  return ((<u64>upper) << 32) | (<u64>low);
}

/** Whether the inferred number would be below 0, which no packet has. */
export function isBelowZero(association: usize, low: u32): bool {
  const top = load<u64>(association, ESP_NUMBER);
  const reach = reachOf(association);
  return top < <u64>reach && low >= <u32>top - reach;
}

/** Checks a number against the window: Reason.none, or the reason to drop the packet. */
export function windowCheck(association: usize, number: u64): u32 {
  const size = load<u32>(association, ESP_WINDOW_SIZE);
  if (size == 0) return Reason.none;
  const top = load<u64>(association, ESP_NUMBER);
  if (number > top) {
    if (number - top <= MAX_SHIFT) return Reason.none;
    // SPEC: inferred in the next upper half because it is left of the window.
    if (number >> 32 != top >> 32) {
      if (TRACED) noteCheck(Check.esp_old, number - ((<u64>1) << 32), top - size + 1, top);
      return Reason.esp_replay;
    }
    if (TRACED) noteCheck(Check.esp_jump, number, top);
    return Reason.esp_jump;
  }
  if (top - number >= <u64>size) {
    if (TRACED) noteCheck(Check.esp_old, number, top - size + 1, top);
    return Reason.esp_replay;
  }
  if (!(load<u64>(wordOf(association, number)) & bitOf(number))) return Reason.none;
  if (TRACED) noteCheck(Check.esp_received, number, top);
  return Reason.esp_replay;
}

/** Records the number of an authenticated packet. */
export function windowNote(association: usize, number: u64): void {
  const top = load<u64>(association, ESP_NUMBER);
  if (number > top) store<u64>(association, number, ESP_NUMBER);
  if (load<u32>(association, ESP_WINDOW_SIZE) == 0) return;
  if (TRACED) noteRing(association);
  if (number > top) clear(association, top >> 6, number >> 6);
  const word = wordOf(association, number);
  store<u64>(word, load<u64>(word) | bitOf(number));
}

function noteRing(association: usize): void {
  const words = load<u32>(association, ESP_WINDOW_WORDS) + 1;
  noteState(StateKind.replay_window, load<u32>(association, ESP_WINDOW), words << 3);
}

/** Clears the words after `from` up to `to`, each word of the ring at most once. */
function clear(association: usize, from: u64, to: u64): void {
  const mask = load<u32>(association, ESP_WINDOW_WORDS);
  const ring: usize = load<u32>(association, ESP_WINDOW);
  const count = min<u64>(to - from, <u64>mask + 1);
  for (let n: u64 = 0; n < count; n++) store<u64>(ring + ((<usize>((<u32>(to - n)) & mask)) << 3), 0);
}

function wordOf(association: usize, number: u64): usize {
  const word = (<u32>(number >> 6)) & load<u32>(association, ESP_WINDOW_WORDS);
  return <usize>load<u32>(association, ESP_WINDOW) + ((<usize>word) << 3);
}

function bitOf(number: u64): u64 {
  return (<u64>1) << (number & 63);
}
