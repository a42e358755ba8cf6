/** The checks of meters, connection tracking and ESP that a frame failed, in words. */
import { ConnectionState, SegmentKind } from "../../abi/connection.js";
import { Check } from "../../abi/trace.js";
import { colourText } from "./actionText.js";
import type { Core } from "../../engine/core.js";
import type { EventReader } from "./events.js";
import { refillOf, refillText, type Bucket, type MeterUnits } from "./refill.js";
import type { CheckName, FailedCheck } from "./trace.js";

interface CheckText {
  /** Names of the numbers of the event. */
  readonly numbers: readonly string[];
  /** The frame is the subject. */
  readonly sentence: (a: bigint, b: bigint, c: bigint) => string;
  /** Of a meter: the bucket that has too few tokens for the first number. */
  readonly bucket?: readonly [Bucket, MeterUnits];
}

const CHECKS = {
  no_tcp: { numbers: [], sentence: () => "has no whole TCP header in its outer packet" },
  fragment: { numbers: [], sentence: () => "is a fragment" },
  packet_beyond_frame: {
    numbers: ["packet end", "frame end"],
    sentence: (end, frame) => `has an IP length that ends at byte ${end}, beyond ${frame}, the end of the frame`,
  },
  tcp_data_offset: {
    numbers: ["data offset"],
    sentence: (offset) => `has the TCP data offset ${offset}, below 5`,
  },
  tcp_header_cut: {
    numbers: ["header end", "available end"],
    sentence: (end, had) =>
      `has TCP options up to byte ${end}, beyond ${had}, the end of its packet or of what was captured`,
  },
  tcp_flags: {
    numbers: ["flags"],
    sentence: (flags) =>
      `has the TCP flags 0x${flags.toString(16)}, which are none of SYN, SYN-ACK, ACK, FIN-ACK and RST`,
  },
  timed_out: {
    numbers: ["seconds", "time-out", "state"],
    sentence: (seconds, limit, state) =>
      `is ${seconds} s after the last valid one, and the state ${stateText(state)} has a time-out of ${limit} s, so the connection counts as empty`,
  },
  kind: {
    numbers: ["kind", "state"],
    sentence: (kind, state) =>
      `is ${kindText(kind)}, which a connection in the state ${stateText(state)} does not accept`,
  },
  no_syn: { numbers: [], sentence: () => "is a SYN-ACK, and no SYN of the other side was seen" },
  seq_beyond: {
    numbers: ["seq", "reply_end"],
    sentence: (seq, end) => `has the sequence number ${seq}, beyond ${end}, the end of the window of the other side`,
  },
  seq_old: {
    numbers: ["end", "sent_end", "max_win"],
    sentence: (end, sent, window) =>
      `ends at ${end}, ${BigInt.asUintN(32, sent - end)} before ${sent}, the highest sequence number seen from its side, and the largest window of the other side is ${window}`,
  },
  ack_beyond: {
    numbers: ["reach", "sent_end", "ack"],
    sentence: (reach, sent, ack) =>
      `${reach === ack ? "acknowledges" : `acknowledges ${ack} and, by SACK,`} ${reach}, beyond ${sent}, the highest sequence number seen from the other side`,
  },
  ack_old: {
    numbers: ["reach", "oldest", "sent_end"],
    sentence: (reach, oldest, sent) =>
      `acknowledges ${reach}, before ${oldest}, the oldest acknowledgement that is valid with ${sent}, the highest sequence number seen from the other side`,
  },
  after_fin: {
    numbers: ["end", "sent_end"],
    sentence: (end, sent) => `ends at ${end}, beyond ${sent}, where the FIN of its side ended the data`,
  },
  not_old: {
    numbers: ["end", "sent_end"],
    sentence: (end, sent) =>
      `is a SYN or SYN-ACK that ends at ${end}, beyond ${sent}, the highest sequence number seen from its side`,
  },
  answers_first: {
    numbers: ["ack", "seq of the first SYN", "sent_end"],
    sentence: (ack, seq, end) =>
      `acknowledges ${ack}, which is not after ${seq}, the first SYN of the other side, up to ${end}`,
  },
  answers_first_again: {
    numbers: ["ack", "sent_end"],
    sentence: (ack, end) =>
      `acknowledges ${ack}, and only a first acknowledgement of ${end}, the SYN of the other side, opens the connection again`,
  },
  answers_last: {
    numbers: ["ack", "seq of the last SYN", "end of the last SYN"],
    sentence: (ack, seq, end) =>
      `acknowledges ${ack}, which is not after ${seq}, the last SYN of the other side, up to ${end}`,
  },
  no_last_syn: {
    numbers: ["ack"],
    sentence: (ack) => `is a SYN-ACK that acknowledges ${ack}, and the frame before it was not a SYN of the other side`,
  },
  rst_seq: {
    numbers: ["seq", "sent_end", "reply_end"],
    sentence: (seq, sent, end) =>
      `is a RST with the sequence number ${seq}: ${sent} or the last acknowledged number ends the connection, and the window ends at ${end}`,
  },
  rst_half_open: {
    numbers: ["seq", "ack"],
    sentence: (seq, ack) =>
      `is a RST with the sequence number ${seq} and the acknowledgement ${ack}, which refuse no SYN of this connection`,
  },
  esp_not_esp: { numbers: [], sentence: () => "has no ESP header, or is a fragment" },
  esp_udp: {
    numbers: ["UDP"],
    sentence: (udp) =>
      udp === 0n
        ? "has no UDP header before ESP, and the action expects one"
        : "has a UDP header before ESP, and the action expects none",
  },
  esp_version: {
    numbers: ["IP version", "version of the action"],
    sentence: (version, action) => `is IPv${version}, and the tunnel of the action is IPv${action}`,
  },
  esp_cut: {
    numbers: ["captured bytes"],
    sentence: (bytes) => `was captured to byte ${bytes} only, before the end of its ESP packet`,
  },
  esp_short: {
    numbers: ["bytes", "minimum"],
    sentence: (bytes, least) =>
      `has ${bytes} bytes from the ESP header to the end of its packet, fewer than ${least}, which header, IV, trailer and ICV take`,
  },
  esp_spi: {
    numbers: ["SPI", "SPI of the action"],
    sentence: (spi, action) => `has the SPI ${spiText(spi)}, and the action has ${spiText(action)}`,
  },
  esp_limit: {
    numbers: ["packets", "limit"],
    sentence: (packets, limit) => `comes after ${packets} packets, and the hard limit is ${limit}`,
  },
  esp_below_zero: {
    numbers: ["lower half", "highest number"],
    sentence: (low, top) =>
      `has the lower half ${low} of a sequence number, which lies in the window before 0: the highest number so far is ${top}`,
  },
  esp_old: {
    numbers: ["sequence number", "smallest of the window", "highest number"],
    sentence: (number, bottom, top) =>
      `has the sequence number ${number}, before ${bottom}, where the replay window that ends at ${top} begins`,
  },
  esp_received: {
    numbers: ["sequence number", "highest number"],
    sentence: (number, top) =>
      `has the sequence number ${number}, which counts as received before; the window ends at ${top}`,
  },
  esp_jump: {
    numbers: ["sequence number", "highest number"],
    sentence: (number, top) =>
      `has the sequence number ${number}, ${number - top} after the highest, ${top}, and the limit is 2^31`,
  },
  esp_icv: {
    numbers: ["sequence number"],
    sentence: (number) => `has another ICV than the key, the salt and the sequence number ${number} give`,
  },
  esp_pad_length: {
    numbers: ["pad length", "available bytes"],
    sentence: (pad, had) => `has a padding of ${pad} bytes, and only ${had} are there`,
  },
  esp_pad_bytes: {
    numbers: ["pad length"],
    sentence: (pad) => `has ${pad} bytes of padding that do not count 1, 2, 3`,
  },
  esp_next_header: {
    numbers: ["next header", "bytes"],
    sentence: (next) => `has the next header ${next}, which is neither IPv4 (4) nor IPv6 (41)`,
  },
  esp_inner_length: {
    numbers: ["next header", "bytes"],
    sentence: (next, bytes) => `carries ${bytes} bytes, which are no whole packet of IPv${next === 4n ? 4 : 6}`,
  },
  meter_start: {
    numbers: ["colour"],
    sentence: (colour) => `has the start colour ${colourText(Number(colour))}, and gets no better one`,
  },
  meter_committed_bytes: bucketCheck("committed", "bytes"),
  meter_excess_bytes: bucketCheck("excess", "bytes"),
  meter_committed_packets: bucketCheck("committed", "packets"),
  meter_excess_packets: bucketCheck("excess", "packets"),
} satisfies Record<CheckName, CheckText>;

function bucketCheck(bucket: Bucket, units: MeterUnits): CheckText {
  return {
    bucket: [bucket, units],
    numbers: ["cost", "tokens", "burst"],
    sentence: (cost, tokens, burst) =>
      `costs ${cost} ${cost === 1n ? units.slice(0, -1) : units}, and the ${bucket} bucket has ${tokens} of ${burst}`,
  };
}

/** Reads a `check` event of an action; its operand is the address of a meter. */
export function failedCheck(reader: EventReader, core: Core, operand: number): FailedCheck {
  const check = Check[reader.word(0)] as CheckName;
  const { numbers, sentence, bucket }: CheckText = CHECKS[check];
  const values = [2, 4, 6].map((n) => (BigInt(reader.word(n + 1)) << 32n) | BigInt(reader.word(n)));
  const [a = 0n, b = 0n, c = 0n] = values;
  const compared = Object.fromEntries(numbers.map((name, n) => [name, String(values[n])]));
  if (bucket === undefined) return { check, numbers: compared, sentence: sentence(a, b, c) };
  const refill = refillOf(core, operand, ...bucket, a);
  const rate = { "units a second": String(refill.rate) };
  const wait = refill.wait === null ? {} : { "nanoseconds until enough": String(refill.wait) };
  return {
    check,
    numbers: { ...compared, ...rate, ...wait },
    sentence: sentence(a, b, c) + refillText(refill, bucket[1]),
  };
}

/** States before a connection is valid (assembly/act/stateful/connection.ts). */
const EARLY = ["empty", "half-open"];

function stateText(state: bigint): string {
  return (EARLY[Number(state) - 8] ?? ConnectionState[Number(state)] ?? String(state)).replaceAll("_", " ");
}

function kindText(kind: bigint): string {
  const name = (SegmentKind[Number(kind)] ?? "").replace("_", "-").toUpperCase();
  return `${name === "ACK" ? "an" : "a"} ${name}`;
}

function spiText(spi: bigint): string {
  return `0x${spi.toString(16).padStart(8, "0")}`;
}
