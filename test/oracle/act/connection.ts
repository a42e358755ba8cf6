// Reference of connection tracking: a plain, slow implementation of docs/conntrack.md, RFC 9293,
// RFC 7323 and RFC 2018. It shares no layout with the engine; field names are those of the page.

import {
  after,
  furthest,
  plus,
  readOptions,
  readSegment,
  type Kind,
  type Segment,
  type TrackedFrame,
} from "./tcpSegment.js";

export interface Side {
  sent_end: number;
  reply_end: number;
  max_win: number;
  max_ack: number;
  max_ack_seen: number;
  scale: number;
  close_initiated: number;
  data_unacked: number;
  liberal: number;
}

export interface PlainConnection {
  original: Side;
  reply: Side;
  last_seq: number;
  last_end: number;
  last_ack: number;
  last_win: number;
  last_dir: number;
  last_index: number;
  valid: number;
  state: number;
  freeze_track: number;
  connection_assured: number;
  sack_permitted: number;
  challenged_acked: number;
  heartbeat: number;
  max_ack_window: number;
  retransmission_counter: number;
  retransmission_limit: number;
  limit_exceeded: number;
}

/**
 * A connection: the context of the page, the time of its last valid frame in nanoseconds (null:
 * never), and the SYNs that the context has no place for.
 */
export interface Tracked {
  context: PlainConnection;
  time: bigint | null;
  /** The `seq` of the first SYN of a half-open connection; absent if software wrote the context. */
  firstSeq?: number;
  /** The last SYN that a frame brought. */
  lastSyn?: Segment;
}

export type State =
  | "empty"
  | "half_open"
  | "syn_received"
  | "established"
  | "fin_wait"
  | "close_wait"
  | "last_ack"
  | "time_wait"
  | "undefined";

const VALID = 0x00;
const CHANGED = 0x02;
const INVALID = 0x40;
const BAD = 0x41;
const TRAP = 0x80;

const INDEX: Record<Kind, number> = { syn: 1, syn_ack: 2, fin: 4, ack: 8, rst: 16 };
const NAMES: State[] = ["syn_received", "established", "fin_wait", "close_wait", "last_ack", "time_wait"];

const SECONDS: Record<State, number> = {
  empty: Infinity,
  half_open: 120,
  syn_received: 60,
  established: Infinity,
  fin_wait: 120,
  close_wait: 60,
  last_ack: 30,
  time_wait: 120,
  undefined: Infinity,
};
const SECONDS_EXCEEDED = 300;

export function emptySide(): Side {
  const side = { sent_end: 0, reply_end: 0, max_win: 0, max_ack: 0, max_ack_seen: 0 };
  return { ...side, scale: 0, close_initiated: 0, data_unacked: 0, liberal: 0 };
}

export function emptyConnection(): PlainConnection {
  return {
    original: emptySide(),
    reply: emptySide(),
    last_seq: 0,
    last_end: 0,
    last_ack: 0,
    last_win: 0,
    last_dir: 0,
    last_index: 0,
    valid: 0,
    state: 0,
    freeze_track: 0,
    connection_assured: 0,
    sack_permitted: 0,
    challenged_acked: 0,
    heartbeat: 0,
    max_ack_window: 0,
    retransmission_counter: 0,
    retransmission_limit: 0,
    limit_exceeded: 0,
  };
}

/** The state of a connection, derived from its context alone. */
export function stateOf({ valid, state, last_index }: PlainConnection): State {
  if (valid === 1) return NAMES[state] ?? "undefined";
  return last_index === INDEX.syn ? "half_open" : "empty";
}

function before(a: number, b: number): boolean {
  return after(b, a);
}

function distance(from: number, to: number): number {
  return (to - from + 2 ** 32) % 2 ** 32;
}

/**
 * Result of a frame: its syndrome and, for a frame that was checked, its kind and the states before
 * and after.
 */
export interface Way {
  syndrome: number;
  from?: State;
  kind?: Kind;
  /** null if the frame is invalid. */
  to?: State | null;
}

/** Tracks a frame of the original direction or of the reply direction. */
export function trackReference(tracked: Tracked, frame: TrackedFrame, original: boolean): Way {
  const { context } = tracked;
  if (context.freeze_track === 1) return { syndrome: TRAP };
  const segment = readSegment(frame);
  if (segment === null) return { syndrome: BAD };

  const now = isLate(tracked, frame.time) ? "empty" : stateOf(context);
  const next = judge(tracked, segment, original, now);
  const way = { from: now, kind: segment.kind, to: next };
  if (next === null) return { ...way, syndrome: INVALID };

  const begun = segment.kind === "syn" && next === "half_open" && (now === "empty" || now === "time_wait");
  if (segment.kind === "syn") tracked.lastSyn = segment;
  note(context, segment, original, begun);
  context.valid = next === "empty" || next === "half_open" ? 0 : 1;
  if (context.valid === 1) context.state = NAMES.indexOf(next);
  if (tracked.time === null || frame.time > tracked.time) tracked.time = frame.time;
  return { ...way, syndrome: next === now ? VALID : CHANGED };
}

function isLate({ context, time }: Tracked, now: bigint): boolean {
  if (time === null || now < time) return false;
  const state = stateOf(context);
  const repeats = state === "established" && context.limit_exceeded === 1;
  const seconds = repeats ? SECONDS_EXCEEDED : SECONDS[state];
  return seconds !== Infinity && now - time > BigInt(seconds) * 1_000_000_000n;
}

/** Updates the windows and returns the next state; null if the frame is invalid. */
function judge(tracked: Tracked, segment: Segment, original: boolean, now: State): State | null {
  const { context } = tracked;
  const S = original ? context.original : context.reply;
  const R = original ? context.reply : context.original;
  const { kind, seq, end, ack } = segment;
  const liberal = S.liberal === 1;
  const known = { S: S.max_win !== 0, R: R.max_win !== 0 };
  const checked = (): boolean => liberal || isInWindow(context, segment, S, R);
  const old = (): boolean => liberal || (isInWindow(context, segment, S, R) && !after(end, S.sent_end));
  /** If `passes`, the windows change and `next` gives the next state. */
  const step = (passes: boolean, next: () => State): State | null => {
    if (!passes) return null;
    advance(segment, S, R);
    return next();
  };
  const stay = (): State => now;
  const valid = NAMES.includes(now);

  /** The last SYN, if it is the last frame and of the other side. */
  const lastSyn =
    context.last_index === INDEX.syn && context.last_dir === (original ? 0 : 1) ? tracked.lastSyn : undefined;
  const firstSeq = tracked.firstSeq ?? context.last_seq;
  const answersLast = lastSyn !== undefined && after(ack, lastSyn.seq) && !after(ack, lastSyn.end);
  const beginWithLast = (): State | null => {
    if (!answersLast) return null;
    begin(context);
    openSide(context, lastSyn, R, S);
    openSide(context, segment, S, R);
    acknowledge(segment, segment.window, S, R);
    return "syn_received";
  };
  /** What is right at any valid state, if nothing else is. */
  const unexpected = (): State | null =>
    !valid ? null : kind === "syn" ? now : kind === "syn_ack" ? beginWithLast() : null;

  if (kind === "rst") {
    if (now === "empty" || now === "undefined") return null;
    if (liberal) return "empty";
    if (now === "half_open") {
      const bySeq = known.S && seq === S.sent_end;
      const ends = [...(known.R ? [R.sent_end] : []), ...(lastSyn ? [lastSyn.end] : [])];
      const byAck = segment.hasAck && ends.includes(ack);
      return bySeq || byAck ? "empty" : null;
    }
    if (seq === S.sent_end || (R.max_ack_seen === 1 && seq === R.max_ack)) return "empty";
    const from = R.max_ack_seen === 1 ? R.max_ack : S.sent_end;
    return after(seq, from) && !after(seq, S.reply_end) ? now : null;
  }

  switch (`${now}: ${kind}`) {
    case "time_wait: syn":
    case "empty: syn":
      if (now === "time_wait" && !liberal && !after(seq, S.sent_end)) return unexpected();
      begin(context);
      openSide(context, segment, S, R);
      tracked.firstSeq = seq;
      return "half_open";
    case "half_open: syn":
      if (!known.R) {
        tracked.firstSeq = known.S ? firstSeq : seq;
        if (tracked.firstSeq !== seq) return now;
        context.sack_permitted = 1;
        openSide(context, segment, S, R);
        return now;
      }
      if (known.S) return step(old(), stay);
      openSide(context, segment, S, R);
      return now;
    case "half_open: syn_ack":
      if (!known.R) return null;
      if (known.S && old()) return step(true, () => "syn_received");
      if (
        known.S
          ? ack === R.sent_end && S.max_ack_seen === 0
          : (after(ack, firstSeq) && !after(ack, R.sent_end)) || (liberal && !answersLast)
      ) {
        openSide(context, segment, S, R);
        acknowledge(segment, segment.window, S, R);
        return "syn_received";
      }
      return beginWithLast();
    case "syn_received: syn":
      return step(old(), stay) ?? unexpected();
    case "syn_received: syn_ack":
      return step(old(), () => (S.max_ack_seen === 1 && R.max_ack_seen === 1 ? "established" : now)) ?? unexpected();
    case "syn_received: ack":
      return step(checked(), () => (S.max_ack_seen === 1 && R.max_ack_seen === 1 ? "established" : now));
    case "syn_received: fin":
    case "established: fin":
      return step(checked(), () => "fin_wait");
    case "established: syn_ack":
      return step(old(), stay) ?? unexpected();
    case "established: ack":
    case "close_wait: ack":
    case "time_wait: ack":
    case "time_wait: fin":
      return step(checked(), stay);
    case "fin_wait: ack":
      return step(checked(), () => (S.close_initiated === 0 && isAcknowledged(R, S) ? "close_wait" : now));
    case "fin_wait: fin":
    case "close_wait: fin": {
      const first = S.close_initiated === 0;
      return step(checked(), () => (first ? "last_ack" : now));
    }
    case "last_ack: ack":
    case "last_ack: fin":
      return step(checked(), () => (isAcknowledged(R, S) && isAcknowledged(S, R) ? "time_wait" : now));
    default:
      return unexpected();
  }
}

function isAcknowledged(side: Side, by: Side): boolean {
  return by.max_ack_seen === 1 && !before(by.max_ack, side.sent_end);
}

function isInWindow(context: PlainConnection, segment: Segment, S: Side, R: Side): boolean {
  const { seq, end } = segment;
  if (after(seq, S.reply_end)) return false;
  if (before(end, S.sent_end) && distance(end, S.sent_end) > R.max_win) return false;
  if (segment.hasAck) {
    const reach = context.sack_permitted === 1 ? furthest(segment) : segment.ack;
    if (after(reach, R.sent_end)) return false;
    const oldest = Math.min(Math.max(S.max_win, 65535) * 2 ** context.max_ack_window, 2 ** 31 - 1);
    if (distance(reach, R.sent_end) > oldest) return false;
  }
  return S.close_initiated === 0 || !after(end, S.sent_end);
}

function begin(context: PlainConnection): void {
  const { freeze_track, max_ack_window, retransmission_limit, original, reply } = context;
  Object.assign(context, emptyConnection(), {
    freeze_track,
    max_ack_window,
    retransmission_limit,
    sack_permitted: 1,
    original: Object.assign(original, { ...emptySide(), liberal: original.liberal }),
    reply: Object.assign(reply, { ...emptySide(), liberal: reply.liberal }),
  });
}

function openSide(context: PlainConnection, segment: Segment, S: Side, R: Side): void {
  const options = readOptions(segment.options);
  const scale = options.find(({ kind, data }) => kind === 3 && data.length === 1);
  S.sent_end = segment.end;
  S.reply_end = plus(segment.end, R.max_win);
  S.max_win = Math.max(segment.window, 1);
  S.max_ack = 0;
  S.max_ack_seen = 0;
  S.close_initiated = 0;
  S.data_unacked = 1;
  S.scale = scale ? Math.min(scale.data[0]!, 14) : 15;
  if (!options.some(({ kind, data }) => kind === 4 && data.length === 0)) context.sack_permitted = 0;
}

/** Effect of a valid frame on the windows. */
function advance(segment: Segment, S: Side, R: Side): void {
  const { end, kind } = segment;
  const scaled = kind !== "syn" && kind !== "syn_ack" && S.scale !== 15 && R.scale !== 15;
  const win = scaled ? segment.window * 2 ** S.scale : segment.window;
  if (after(end, S.reply_end)) R.max_win = Math.min(R.max_win + distance(S.reply_end, end), 2 ** 32 - 1);
  S.max_win = Math.max(S.max_win, win);
  if (after(end, S.sent_end)) {
    S.sent_end = end;
    S.data_unacked = 1;
  }
  if (kind === "fin") S.close_initiated = 1;
  if (segment.hasAck) acknowledge(segment, win, S, R);
}

function acknowledge({ ack }: Segment, win: number, S: Side, R: Side): void {
  if (S.max_ack_seen === 0 || after(ack, S.max_ack)) S.max_ack = ack;
  S.max_ack_seen = 1;
  const last = plus(ack, Math.max(win, 1));
  if (after(last, R.reply_end)) R.reply_end = last;
  if (!before(ack, R.sent_end)) R.data_unacked = 0;
}

/** Effect of every valid frame on the context. */
function note(context: PlainConnection, segment: Segment, original: boolean, begun: boolean): void {
  const { seq, end, ack, window, kind } = segment;
  const dir = original ? 1 : 0;
  const wasChallenge = [INDEX.rst, INDEX.syn].includes(context.last_index) && context.last_dir !== dir;
  if (kind === "ack" && wasChallenge) context.challenged_acked = 1;
  if ((kind === "ack" || kind === "fin") && stateOf(context) === "established") context.connection_assured = 1;

  const last = {
    last_seq: seq,
    last_end: end,
    last_ack: ack,
    last_win: window,
    last_dir: dir,
    last_index: INDEX[kind],
  };
  const repeated =
    !begun && Object.entries(last).every(([name, value]) => context[name as keyof typeof last] === value);
  const count = repeated ? context.retransmission_counter + 1 : 0;
  context.retransmission_counter = Math.min(count, 7);
  if (!repeated) context.limit_exceeded = 0;
  else if (context.retransmission_limit !== 0 && count > context.retransmission_limit) context.limit_exceeded = 1;
  Object.assign(context, last);
  context.heartbeat = 1;
}
