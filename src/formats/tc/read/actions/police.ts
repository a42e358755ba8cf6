/** Meters of tc. */
import { notImported, type Word } from "../../../text/refusal.js";
import type { Cursor } from "../../../text/words.js";
import { bitRate, byteSize, tcNumber } from "../values.js";
import { control, CONTROLS } from "./control.js";
import type { ActionContext, State, Step, Verdict } from "./steps.js";

export function police(words: Cursor, context: ActionContext, _state: State, word: Word): Step[] {
  let [rate, burst, packets, packetBurst]: (number | undefined)[] = [];
  let exceed: Verdict = { kind: "reclassify" };
  let conform: Verdict = { kind: "pass" };
  for (;;) {
    if (words.take("rate")) rate = bitRate(words.next("a rate"));
    else if (words.take("burst") || words.take("buffer")) burst = byteSize(cell(words.next("a size")));
    else if (words.take("pkts_rate")) packets = tcNumber(words.next("a rate"), "a rate", 32);
    else if (words.take("pkts_burst")) packetBurst = tcNumber(words.next("packets"), "a burst", 32);
    else if (["mtu", "peakrate", "avrate", "overhead", "linklayer"].includes(words.peek() ?? "")) {
      const part = words.next("a part");
      const value = words.next("its value");
      const isHarmless = (part.text === "overhead" && value.text === "0b") || value.text === "ethernet";
      if (!isHarmless) context.refuse(part, `police ${part.text}`, `meters of the device have no ${part.text}`);
    } else if (words.take("conform-exceed")) [exceed, conform] = limits(words);
    else if (CONTROLS.includes(words.peek() ?? "")) exceed = control(words, words.next("a control"));
    else if (!words.take("index")) break;
    else words.next("an index");
  }
  if (packets !== undefined) {
    return [{ kind: "police", meter: { meter_mode: "pkt", cir: packets, cbs: packetBurst ?? 1 }, exceed, conform }];
  }
  if (rate === undefined || burst === undefined)
    return notImported(word, "police needs rate and burst, or pkts_rate and pkts_burst");
  const cir = Math.round(rate / 8);
  if (cir > MAX_BYTES) notImported(word, "meters of the device have rates up to 255 bytes a nanosecond");
  return [{ kind: "police", meter: { meter_mode: "l2_len", cir, cbs: burst }, exceed, conform }];
}

/** `EXCEED/CONFORM`, also with goto chain. */
function limits(words: Cursor): [Verdict, Verdict] {
  const word = words.next("a control");
  const [first = "", second] = word.text.split("/");
  const exceed = control(words, { ...word, text: first });
  return [exceed, second === undefined ? { kind: "pass" } : control(words, { ...word, text: second })];
}

/** A size without the size of cells after a slash. */
function cell(word: Word): Word {
  return { ...word, text: word.text.split("/", 1)[0] ?? "" };
}

/** Bytes a second: the mantissa of a rate has eight bits, for bytes a nanosecond. */
const MAX_BYTES = 255e9;
