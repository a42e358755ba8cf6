/**
 * Meters of a bridge: lines of `dump-meters` and operands of `add-meter`.
 *
 *     meter=1 kbps burst stats bands=type=drop rate=1000 burst_size=100
 */
import type { Scenario } from "../../../scenario/document.js";
import { numberOf } from "../../text/numbers.js";
import { notImported, type Place } from "../../text/refusal.js";
import type { Piece } from "./text.js";

export type MeterRates = NonNullable<NonNullable<Scenario["asoObjects"]>[number]["flow_meter"]>;

export interface Meter {
  readonly rates: MeterRates;
  readonly place: Place;
}

/** Rates of OpenFlow count thousands of bits a second. */
const BYTES_OF_KILOBIT = 125;
const FLAGS = ["kbps", "pktps", "burst", "stats"];

/** @returns its number, and the meter; @throws NotImported */
export function readMeter(text: Piece, assume: (word: Piece, reason: string) => void): readonly [string, Meter] {
  const found: { id?: Piece | undefined; rate?: Piece; burst?: Piece | undefined } = {};
  const flags = new Set<string>();
  for (const word of text.split(", \t")) {
    // Before the first band, `bands=type=drop`.
    const [, before = ""] = /^(bands?=)./.exec(word.text) ?? [];
    const part = word.part(before.length);
    const [name, value] = part.cut("=") ?? [part, undefined];
    if (name.text === "meter") found.id = value;
    else if (FLAGS.includes(name.text)) flags.add(name.text);
    else if (name.text === "rate") found.rate = once(found.rate, value, part);
    else if (name.text === "burst_size") found.burst = value;
    else if (name.text === "type") checkType(value ?? part);
    else if (!/^bands?$/.test(name.text)) notImported(part, "a meter has kbps or pktps, burst, stats and bands");
  }
  if (found.id === undefined || found.rate === undefined)
    return notImported(text, "a meter has a number and a band with a rate");
  const isPackets = flags.has("pktps");
  const unit = isPackets ? 1 : BYTES_OF_KILOBIT;
  const cir = numberOf(found.rate, "a rate", 32) * unit;
  const size = found.burst === undefined ? 0 : numberOf(found.burst, "a burst", 32);
  if (size === 0) assume(found.rate, "no burst_size: Open vSwitch takes the rate of a second");
  const meter_mode = isPackets ? ("pkt" as const) : ("l2_len" as const);
  return [found.id.text, { rates: { meter_mode, cir, cbs: size === 0 ? cir : size * unit }, place: text.place }];
}

/** OpenFlow applies the band with the highest rate that is exceeded (1.3, 5.7.1); a meter of the device has one rate. */
function once(known: Piece | undefined, value: Piece | undefined, part: Piece): Piece {
  if (known !== undefined) notImported(part, "a meter of the device drops at one rate: one band");
  return value ?? notImported(part, "a rate is a number");
}

function checkType(type: Piece): void {
  if (type.text !== "drop") notImported(type, "a meter of the device drops frames: a band has type=drop");
}
