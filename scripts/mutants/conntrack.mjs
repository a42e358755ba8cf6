/** Planted faults of connection tracking. */

const SEES = [
  "test/assembly/act/connection.test.ts",
  "test/assembly/act/connectionFrames.test.ts",
  "test/assembly/act/connectionRandom.test.ts",
];

const at = (file, id, search, replace, breaks) => {
  return { id, file: `assembly/act/${file}.ts`, search, replace, breaks, sees: SEES };
};

export const CONNTRACK = [
  at(
    "track",
    "track-freeze",
    "if (load<u8>(connection, CONNECTION_STATE) & STATE_FREEZE) return SYNDROME_TRAP;",
    "",
    "tracking that is off",
  ),
  at(
    "track",
    "track-late",
    "time - last >= <u64>seconds",
    "time - last > <u64>seconds",
    "the last nanosecond of a time-out",
  ),
  at(
    "track",
    "track-time-back",
    "if (load<u64>(connection, CONNECTION_TIME) <= time) store",
    "store",
    "a clock that goes back",
  ),
  at(
    "track",
    "track-reuse",
    "isLiberal() || isAfter(Segment.seq, sentEnd(sender())) ? anew()",
    "true ? anew()",
    "the SYN of a connection that is long closed",
  ),
  at("track", "track-old-syn", "again ? isOld() : isChecked()", "isChecked()", "a SYN of another connection"),
  at(
    "track",
    "track-handshake-ack",
    "isAfter(Segment.ack, sentEnd(receiver())))",
    "false)",
    "a SYN-ACK of what was never sent",
  ),
  at("track", "track-both-closed", " && acknowledges(receiver(), sender())", "", "a connection that is half closed"),
  at("track", "track-first-fin", "const first = !closed();", "const first = true;", "a FIN that comes again"),
  at("track", "track-limit", "counted > limit", "counted >= limit", "one repetition too few"),
  at("track", "track-repeat-end", "be32(connection + CONNECTION_LAST_END) == Segment.end &&", "", "a longer frame"),
  at(
    "track",
    "track-challenge",
    "(original ? 0 : LAST_ORIGINAL)",
    "(original ? LAST_ORIGINAL : 0)",
    "who answers a challenge",
  ),
  at("window", "window-probe", "Segment.ack + max<u32>(win, 1)", "Segment.ack + win", "the probe of a closed window"),
  at(
    "window",
    "window-wide",
    "last - Segment.end > get(receiver()",
    "last - Segment.end > get(sender()",
    "whose window it is",
  ),
  at(
    "window",
    "window-scale-one",
    "scaleOf(0) == SCALE_NONE || scaleOf(1)",
    "scaleOf(sender())",
    "scale of one side alone",
  ),
  at("window", "window-scale-syn", "if (syn || scaleOf", "if (scaleOf", "the window of a SYN"),
  at(
    "window",
    "window-after-fin",
    "return !closed() || !isAfter(Segment.end, last);",
    "return true;",
    "data behind a FIN",
  ),
  at(
    "window",
    "window-ack-most",
    "min(usual << (flags & FLAG_MAX_ACK_WINDOW), MOST_ACK_WINDOW)",
    "(usual << (flags & FLAG_MAX_ACK_WINDOW))",
    "an ACK of what was never sent, with a wide window",
  ),
  at(
    "window",
    "window-saturate",
    "return a + b < a ? 0xffffffff : a + b;",
    "return a + b;",
    "a window as wide as can be",
  ),
  at("track", "track-last-nanosecond", "min(time, u64.MAX_VALUE - 1) + 1", "time + 1", "the end of time"),
  at("segment", "segment-fragment", "if (be16(at + 6) & FRAGMENT4) return false;", "", "first fragments"),
  at(
    "segment",
    "segment-padding",
    "(packetEnd - offset - size)",
    "(captured - offset - size)",
    "padding behind the packet",
  ),
  at("segment", "segment-serial", "return <i32>(a - b) > 0;", "return a > b;", "numbers that wrap"),
  at(
    "segment",
    "segment-sack-first",
    "option = optionFrom(option + size, OPTION_SACK, 0);",
    "option = 0;",
    "the second SACK option",
  ),
];
