/** Planted faults of bursts: columns, rows on their way in, who has the frames, what is refused, what the host does behind them. */

const COLUMNS = ["test/model/traffic/burstColumns.test.ts"];
const USE = ["test/model/traffic/burstUse.test.ts"];
const WAYS = ["test/model/traffic/burstWays.test.ts"];

const at = (file, sees) => (id, search, replace, breaks) => ({
  id: `burst-${id}`,
  file,
  search,
  replace,
  breaks,
  sees,
});
const column = at("assembly/out/columns.ts", COLUMNS);
const copy = at("src/engine/columns.ts", COLUMNS);
const row = at("src/engine/batch.ts", USE);
const way = at("src/engine/batch.ts", WAYS);
const use = at("src/model/traffic/burst.ts", USE);
const taken = at("src/model/traffic/receive.ts", USE);
const served = at("src/model/traffic/receive.ts", WAYS);

export const BURSTS = [
  column(
    "row-before",
    "load<u32>(outcome, OUTCOME_TAG)",
    "load<u32>(outcomeAt(max<u32>(i, 1) - 1), OUTCOME_TAG)",
    "tags",
  ),
  column("tagged-stays", "load<u8>(outcome, OUTCOME_FLAGS) & OUTCOME_HAS_TAG", "1", "rows without a tag"),
  column("reason-stays", "<u8>load<u16>(outcome, OUTCOME_REASON)", "<u8>0", "reasons"),
  column("first-rule", "* HITS_PER_FRAME + hits - 1)", "* HITS_PER_FRAME)", "the last rule of several"),
  column("no-rule", "hits == 0 ? NO_RULE : ", "", "rows that hit no rule"),
  column(
    "not-taken",
    "if (load<u32>(destination, DEST_STATUS) != Reason.none) continue;",
    "",
    "queues that do not take the frame",
  ),
  column("last-queue", "if (arrived == 0) {", "if (arrived >= 0) {", "the first destination of several"),
  column(
    "first-again",
    "if (n > 0) destination = load<u32>(destination, DEST_NEXT);",
    "",
    "destinations behind the first",
  ),
  column("kind-lost", "kind = flags;", "kind = 0;", "ports among destinations"),
  { ...column("cable", "some |= SOME_AT_PORT;", "some |= 0;", "frames that leave by a cable"), sees: WAYS },
  {
    ...column("buffer", "some |= SOME_AT_HOST;", "some |= 0;", "frames for receive buffers"),
    sees: ["test/model/traffic/burst.node.test.ts"],
  },

  copy("kinds-stay", "  copy(from.kinds, to.kinds, first, count);\n", "", "kinds"),
  copy("verdicts-stay", "  copy(from.verdicts, to.verdicts, first, count);\n", "", "verdicts"),
  copy("few-less", "i < count; i++", "i < count - 1; i++", "the last of few rows"),
  copy("many-less", "from.subarray(0, count), first", "from.subarray(0, count - 1), first", "the last of many rows"),

  row("wire-length", "u32[at + 2] = wireLength;", "u32[at + 2] = length;", "the length on the wire"),
  row("link-stays", "u32[at + 3] = portLinkFlags;", "u32[at + 3] ||= portLinkFlags;", "ports and link types"),
  row("sender-stays", "u32[at + 4] = vport;", "u32[at + 4] ||= vport;", "who sent the frame before"),
  row("metadata-stays", "u32[at + 6] = metadata;", "u32[at + 6] ||= metadata;", "what a sender said"),
  row("stamp-elsewhere", "2 * row;", "2 * (this.count - 1);", "times of rows but the last"),
  row("stamp-low", "Number((time >> 32n) & 0xffffffffn)", "0", "times beyond 32 bits"),
  row("rows-beyond", "    if (this.count >= this.limit) return -1;\n", "", "a frame more than there are rows"),
  row(
    "room-beyond",
    "address = this.#next;\n    if (this.count >= this.limit || address + bytes.length > this.#end)",
    "address = this.#next;\n    if (this.count >= this.limit)",
    "a frame more than there is room for",
  ),
  row(
    "room-kept",
    "    this.#next = this.core.bytes;\n  }\n\n  /**\n   * Adds",
    "  }\n\n  /**\n   * Adds",
    "room of the frames before",
  ),
  row("no-head-room", "this.#next + FRAME_HEAD_ROOM", "this.#next", "frames in front of one that becomes longer"),
  row("not-packed", "(FRAME_PACKED << 24) | port", "port", "frames that lie around one that changes"),
  way("time-of-row", "this.core.times + 8 * i", "this.core.times", "the time of frames on a cable"),
  way(
    "length-of-row",
    "return this.#descriptor(i, FRAME_WIRE_LENGTH);",
    "return this.frame(i).length;",
    "their lengths",
  ),

  use(
    "port-kept",
    "    this.#open(call);\n    this.#device.checkPort",
    "    this.#port = port;\n    this.#open(call);\n    this.#device.checkPort",
    "a port that was refused before",
  ),
  use("port-unchecked", "      port === this.#port &&\n", "", "another port than that of the frame before"),
  use("link-unchecked", "      linkType === LINK_TYPES.ETHERNET &&\n", "", "another link type"),
  use("wire-unchecked", "      wireLength === length &&\n", "", "wire lengths"),
  use("length-unchecked", "      length >>> 0 === length &&\n", "", "lengths that are no length"),
  use("length-most", "      length <= MAX_FRAME &&\n", "", "frames that are too long"),
  use("offset-unchecked", " && offset >>> 0 === offset", "", "offsets that are no offset"),
  use("offset-most", " && offset + length <= FRAME_ARENA", "", "frames that end behind the area"),
  use(
    "end-unchecked",
    '"offset", offset, 32) + length > FRAME_ARENA',
    '"offset", offset, 32) > FRAME_ARENA',
    "the same",
  ),
  use(
    "steered-twice",
    "if (this.#started >= 0) refuseState(call",
    "if (this.#started > 1e9) refuseState(call",
    "frames that are steered",
  ),
  use("steered-unseen", "      this.#started < 0 &&\n", "", "a burst that is steered"),
  use("busy-unseen", "      this.#traffic.holds(this) &&\n", "", "a device with other frames"),
  use(
    "busy-steered",
    "if (!this.#traffic.holds(this))\n      this.#busy",
    "if (this.#started > 1e9)\n      this.#busy",
    "the same, by all calls",
  ),
  use(
    "busy-outcome",
    "    this.#hold(call);\n    if (this.#device.installed",
    "    if (this.#device.installed",
    "outcomes of other frames",
  ),
  use("closed-unseen", "      !this.#device.closed &&\n", "", "a device that is closed"),
  use("usual-unstamped", " &&\n      !this.#device.remembers\n", "\n", "times of usual frames"),
  use("unusual-unstamped", "if (row >= 0 && this.#device.remembers)", "if (row < 0)", "times of other frames"),
  use("time-unchecked", '    checkTime(call, "time", time);\n', "", "times that are none"),
  use("row-beyond", "row >= 0 && row < count", "row >= 0", "rows that are not there"),
  use("count-kept", "if (this.#started >= 0) return this.#started;", "", "rows behind other calls"),
  {
    ...use(
      "read-again",
      "if (this.#outcomes !== null) return",
      "if (this.#outcomes === undefined) return",
      "outcomes beyond cables",
    ),
    sees: WAYS,
  },

  taken("not-held", "    this.#holder = holder;\n", "", "who has the frames"),
  taken("not-cleared", "    this.batch.clear();\n", "", "frames of the burst before"),
  taken(
    "not-taken-from",
    "      this.take(this, MAX_BATCH);\n",
    "      this.batch.clear();\n",
    "bursts whose frames others have replaced",
  ),
  served("came-in-place", "batch.frame(i).slice()", "batch.frame(i)", "what came in, where rules change it"),
  served("never-served", "!cabled || (some & SOME_AT_PORT) === 0", "true", "cables"),
  served("wire-length-behind", "wireLength: batch.wireLength(i), ...time", "...time", "cut frames beyond a cable"),
  served("time-behind", "? { time: batch.time(i) } : {}", "? {} : {}", "times beyond a cable"),
  served("link-behind", "linkTypeOf(batch.link(i))", "1", "link types beyond a cable"),
];
