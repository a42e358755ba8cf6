/** A parsed frame as text, or as a line of JSON. */
import { linkTypeText, type ParsedFrame, type ParsedHeaders } from "../../index.js";
import { lengthsBeyond, printParsed, type LengthBeyond } from "../../packet/index.js";
import type { NumberedFrame } from "../input/captures.js";
import { counted, grouped, NO_PAINT, type Paint } from "../text.js";
import { fieldsText } from "./fieldsText.js";

/** The parts of a frame to print. */
export interface FrameShape {
  fields: boolean;
  detail: boolean;
  hex: boolean;
}

const ETHERNET = 1;

/** A line of JSON. */
export function frameLine(frame: NumberedFrame, parsed: ParsedFrame): string {
  const { number, time, wireLength, bytes, linkType } = frame;
  const { fields, stopped } = parsed;
  const beyond = lengthsBeyond(bytes, parsed, wireLength);
  // JSON.stringify takes no bigint; a time has more digits than a double.
  const head = `{"frame":${number},"time":${time},"len":${wireLength},"captured":${bytes.length},"link_type":${linkType}`;
  return `${head},${JSON.stringify({ fields, stopped, beyond }).slice(1)}\n`;
}

/** Headers, unless only fields are wanted; then fields; then what is wrong. `fields` are those of the frame, or null. */
export function frameText(
  paint: Paint,
  { fields, detail, hex }: FrameShape,
  frame: NumberedFrame,
  parsed: ParsedHeaders,
  values: ParsedFrame["fields"] | null,
): string {
  const { bytes, wireLength } = frame;
  let text = headText(paint, frame);
  if (!fields || detail || hex) {
    text += printParsed(bytes, parsed, { detail, hex, ...(paint === NO_PAINT ? {} : { paint }) });
  }
  if (values !== null) text += fieldsText(values);
  for (const one of lengthsBeyond(bytes, parsed, wireLength)) text += beyondText(paint, one);
  return `${text}${stopText(paint, parsed.stopped)}\n`;
}

function headText(paint: Paint, { number, wireLength, bytes, time, linkType }: NumberedFrame): string {
  const cut = bytes.length < wireLength ? ` (${bytes.length} captured)` : "";
  const when = time === null ? "" : `${timeText(time)}  `;
  const link = linkType === ETHERNET ? "" : `  ${linkTypeText(linkType)}`;
  return `${paint("bold", `frame ${number}`)}  ${when}${counted(wireLength, "byte")}${cut}${link}\n`;
}

/** The fields of `lengthsBeyond` for people. */
const LENGTHS: Readonly<Record<LengthBeyond["field"], string>> = {
  total_length: "IPv4 total length",
  payload_length: "IPv6 payload length",
  jumbo_payload_length: "IPv6 jumbo payload length",
};

function beyondText(paint: Paint, { level, field, length, had }: LengthBeyond): string {
  const missing = length - had;
  const text = `${level === "inner" ? "inner " : ""}${LENGTHS[field]} ${length}, frame has ${had}: truncated by ${grouped(missing)} ${missing === 1 ? "byte" : "bytes"}`;
  return `${paint("yellow", `  length   ${text}`)}\n`;
}

function stopText(paint: Paint, stopped: ParsedHeaders["stopped"]): string {
  if (stopped === null) return "";
  const { header, field, offset, wanted, had, reason } = stopped;
  // A frame explains its end only where bytes were missing.
  const short = reason === "truncated" || reason === "beyond_packet" ? `: wanted ${wanted} bytes, had ${had}` : "";
  const why = `${short} (${reason.replaceAll("_", " ")})`;
  return `${paint("yellow", `  stopped  in ${header} at byte ${offset}, field ${field}${why}`)}\n`;
}

/** The first nanosecond whose year has five digits. */
const YEAR_10000 = 253_402_300_800n * 1_000_000_000n;
const SECOND = 1_000_000_000n;

/** Frames of a second follow each other. */
let known = { second: -1, text: "" };

/**
 * UTC, with as many digits as the capture has; nanoseconds since the epoch for years beyond the
 * calendar.
 */
export function timeText(time: bigint): string {
  if (time < 0n || time >= YEAR_10000) return `${time} ns`;
  const second = Number(time / SECOND);
  if (second !== known.second) {
    known = { second, text: new Date(second * 1000).toISOString().slice(0, 19).replace("T", " ") };
  }
  const fraction = Number(time % SECOND);
  const digits = fraction % 1000 === 0 ? String(fraction / 1000).padStart(6, "0") : String(fraction).padStart(9, "0");
  return `${known.text}.${digits}`;
}
