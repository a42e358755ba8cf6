/** Random lives of connections: segments that are mostly plausible for what the context says, some at its borders, some wild. */
import { emptyConnection, emptySide, type PlainConnection, type Side } from "../../../oracle/act/connection.js";
import type { Random } from "../../../oracle/generate/random.js";
import { ACK, FIN, PSH, RST, SECOND, segmentFrame, SYN, type SegmentFields, type TestSegment } from "./connections.js";

const NUMBERS = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
/** Seconds at which a time-out may be, and not. */
const WAITS = [30n, 60n, 120n, 300n];
/** The kinds that are drawn at each valid state, from the likely ones. */
const LIKELY = [
  [ACK, ACK, ACK, SYN | ACK],
  [ACK, ACK, ACK, FIN | ACK],
  [ACK, FIN | ACK],
  [ACK, FIN | ACK],
  [ACK, FIN | ACK],
  [ACK, FIN | ACK, SYN],
];
const ANY = [SYN, SYN | ACK, FIN | ACK, ACK, RST, RST | ACK];
const ANSWERS = [SYN | ACK, SYN | ACK, SYN | ACK, RST | ACK, ACK];
const BAD_FLAGS = [0, FIN, SYN | FIN, SYN | RST, FIN | RST, SYN | FIN | ACK];

const modulo = (value: number): number => ((value % 2 ** 32) + 2 ** 32) % 2 ** 32;

export function randomNumber(random: Random): number {
  return random.chance(0.5) ? random.word() : modulo(random.pick(NUMBERS) + random.between(-3, 3));
}

/** Mostly empty; some configured, some as software fills them in, some wild. */
export function randomContext(random: Random): PlainConnection {
  const context = emptyConnection();
  if (random.chance(0.4)) context.max_ack_window = random.below(8);
  if (random.chance(0.6)) context.retransmission_limit = random.below(4);
  if (random.chance(0.05)) context.original.liberal = 1;
  if (random.chance(0.05)) context.reply.liberal = 1;
  if (random.chance(0.01)) context.freeze_track = 1;
  if (random.chance(0.6)) return context;
  const wild = random.chance(0.1);
  context.valid = random.chance(0.9) ? 1 : 0;
  context.state = random.below(wild ? 8 : 6);
  context.last_index = random.pick([0, 1, 2, 4, 8, 16]);
  context.last_dir = random.below(2);
  context.sack_permitted = random.below(2);
  fill(random, context.original, context.reply, wild);
  fill(random, context.reply, context.original, wild);
  for (const side of [context.original, context.reply]) if (context.state > 1) side.close_initiated = random.below(2);
  return context;
}

function fill(random: Random, side: Side, other: Side, wild: boolean): void {
  const { liberal } = side;
  const sent_end = other.max_ack_seen === 1 ? modulo(other.max_ack + random.below(3) * 1000) : randomNumber(random);
  Object.assign(side, emptySide(), {
    liberal,
    sent_end,
    scale: random.below(16),
    max_ack_seen: random.chance(0.9) ? 1 : 0,
  });
  side.max_win = wild ? random.pick([0, 1, 2 ** 32 - 1, random.word()]) : random.between(1, 200_000);
  side.reply_end = modulo(sent_end + random.below(100_000));
  side.max_ack = other.sent_end;
}

/** How time goes between two frames. */
export function randomWait(random: Random): bigint {
  if (random.chance(0.97)) return BigInt(random.below(100_000_000));
  if (random.chance(0.05)) return -BigInt(random.below(200)) * SECOND;
  return random.pick(WAITS) * SECOND + BigInt(random.between(-1, 2));
}

/** The next frame of a connection. */
export function randomFrame(random: Random, context: PlainConnection, time: bigint): TestSegment {
  // Now and then an answer to the last SYN, whatever else the connection has seen.
  const answers = context.last_index === 1 && random.chance(0.25);
  const original = answers ? context.last_dir === 0 : random.chance(0.5);
  const S = original ? context.original : context.reply;
  const R = original ? context.reply : context.original;
  const drawn = answers ? random.pick(ANSWERS) : randomFlags(random, context, S, R);
  const flags = random.chance(0.02) ? random.pick(BAD_FLAGS) : drawn;
  const segment: SegmentFields = {
    flags: flags | (random.chance(0.3) ? PSH : 0),
    seq: randomSeq(random, flags, context, S, R),
    ack: answers ? answerTo(random, context) : randomAck(random, context, S, R),
    win: random.pick([0, 1, 100, 65535, random.below(65536)]),
    data: random.chance(0.5) || flags & (SYN | RST) ? 0 : random.pick([1, 2, 100, random.below(1400)]),
    options: randomOptions(random, flags, R),
    ipv6: random.chance(0.3),
    padding: random.chance(0.1) ? random.below(20) : 0,
  };
  if (flags & SYN && random.chance(0.05)) segment.data = random.below(100);
  const bytes = segmentFrame(segment);
  if (random.chance(0.02)) spoil(random, bytes);
  const captured = random.chance(0.03) ? random.below(bytes.length + 1) : bytes.length;
  const wireLength = bytes.length + (random.chance(0.02) ? random.below(10) : 0);
  return { bytes: bytes.subarray(0, captured), wireLength, linkType: 1, time, original };
}

function randomFlags(random: Random, { valid, state, last_index }: PlainConnection, S: Side, R: Side): number {
  if (random.chance(0.12)) return random.pick(ANY);
  if (random.chance(0.03)) return random.pick([RST, RST | ACK]);
  if (valid === 1) return random.pick(LIKELY[state] ?? ANY);
  if (last_index !== 1) return SYN;
  return S.max_win === 0 || R.max_win !== 0 ? random.pick([SYN, SYN | ACK, SYN | ACK]) : SYN;
}

/** Where the side is, or a border of what it may send, or near one. */
function randomSeq(random: Random, flags: number, { valid, last_seq }: PlainConnection, S: Side, R: Side): number {
  if (flags & SYN && (valid === 0 || random.chance(0.3))) {
    if (S.max_win === 0 || random.chance(0.3)) return randomNumber(random);
    return modulo(random.pick([S.sent_end - 1, S.sent_end - 1, S.sent_end, last_seq]));
  }
  if (flags & SYN) return modulo(S.sent_end + random.pick([-1, 0, 1, 1000]));
  if (flags & RST && random.chance(0.4)) return modulo(R.max_ack + 1 + random.below(1000));
  if (random.chance(0.7)) return S.sent_end;
  const near = random.pick([
    S.sent_end,
    S.reply_end,
    S.sent_end - R.max_win,
    R.max_ack,
    last_seq,
    S.sent_end + 2 ** 31,
  ]);
  return modulo(near + (random.chance(0.5) ? 0 : random.between(-2, 2)));
}

function randomAck(random: Random, { last_seq, max_ack_window }: PlainConnection, S: Side, R: Side): number {
  if (random.chance(0.75)) return R.sent_end;
  const oldest = R.sent_end - Math.max(S.max_win, 65535) * 2 ** max_ack_window;
  const near = random.pick([R.sent_end, S.max_ack, oldest, last_seq, 0, R.sent_end + 2 ** 31]);
  return modulo(near + (random.chance(0.5) ? 0 : random.between(-2, 2)));
}

/** What acknowledges the last SYN, or nearly. */
function answerTo(random: Random, { last_seq, last_end }: PlainConnection): number {
  return modulo(random.pick([last_end, last_end, last_end, last_end + 1, last_seq, last_seq + 1]));
}

function randomOptions(random: Random, flags: number, R: Side): number[] {
  const options: number[] = [];
  const add = (probability: number, ...option: number[]): void => {
    if (random.chance(probability)) options.push(...option);
  };
  add(0.1, 1, 1);
  const likely = flags & SYN ? 0.8 : 0.03;
  add(likely, 3, 3, random.below(17));
  add(likely, 4, 2);
  if (random.chance(0.15)) {
    const blocks = random.between(0, 3);
    options.push(5, 2 + 8 * blocks);
    for (let n = 0; n < blocks; n++) {
      const right = modulo(R.sent_end + random.pick([0, -1, 1, -100, -70_000, 2 ** 31]));
      for (const edge of [randomNumber(random), right]) options.push(...words(edge));
    }
  }
  add(0.05, 8, 10, ...random.bytes(8));
  // An option that is not right ends the list, or is passed over.
  add(0.02, random.pick([3, 4, 5, 254]), random.below(12));
  add(0.02, 0, 3, 3, 5);
  return options.slice(0, 40);
}

function words(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
}

/** One byte of the headers is another one. */
function spoil(random: Random, bytes: Uint8Array): void {
  const at = random.pick([12, 14, 16, 17, 18, 19, 20, 21, 23, random.between(14, 60)]);
  if (at < bytes.length) bytes[at] = random.chance(0.5) ? random.below(256) : bytes[at]! ^ (1 << random.below(8));
}
