/** Planted faults of the command and of captures in bursts: how frames are summed in the core, and who hears of it. */

const SUMS = ["test/run/captureRun.node.test.ts"];
const ROWS = ["test/cli/formats.node.test.ts"];

const mutant = (file, id, search, replace, breaks, sees) => {
  return { id, file: `src/${file}.ts`, search, replace, breaks, sees };
};
const shapes = (id, search, replace, breaks) => {
  return {
    id,
    file: "assembly/out/outcomeClasses.ts",
    search,
    replace,
    breaks,
    sees: ["test/assembly/out/outcomeClasses.node.test.ts", ...SUMS],
  };
};

export const CLI = [
  shapes(
    "shape-length",
    "load<u32>(destination, DEST_LENGTH) - length",
    "0",
    "frames that are lengthened by more or less",
  ),
  shapes(
    "shape-length-kept",
    "load<u64>(FRAMES + i * FRAME_SIZE, FRAME_LENGTH)",
    "0",
    "lengths that frames came in with",
  ),
  shapes(
    "shape-wire-length",
    "load<u32>(LENGTHS + ((<usize>i) << 3), 4)",
    "load<u32>(LENGTHS + ((<usize>i) << 3))",
    "lengths on the wire",
  ),
  shapes(
    "shape-registers",
    "if (written != 0) at = writeRegisters",
    "if (false) at = writeRegisters",
    "what registers hold",
  ),
  shapes("shape-rules", "n < hits; n++, at += 4", "n < min<u32>(hits, 1); n++, at += 4", "rules behind the first"),
  shapes(
    "shape-status",
    "store<u32>(at, load<u32>(destination, DEST_STATUS), 8);",
    "store<u32>(at, 0, 8);",
    "queues that refuse",
  ),
  shapes(
    "shape-next",
    "if (n > 0) destination = load<u32>(destination, DEST_NEXT);",
    "",
    "destinations behind the first",
  ),
  shapes("shape-full", "if (number == MOST_SHAPES) return 0;", "", "more shapes than there is room for"),
  shapes(
    "shape-same",
    "load<u32>(known, SHAPE_HASH) == hash && isSame(known, begin, end)",
    "isSame(known, begin, end) || ((load<u32>(known, SHAPE_HASH) ^ hash) & 0xff) == 0",
    "outcomes whose hashes are much alike",
  ),
  mutant(
    "formats/captureRun",
    "capture-sums-stay",
    "known.shapes.goOn(at, count);",
    "return;",
    "rows behind a full table",
    SUMS,
  ),
  mutant(
    "model/burst",
    "capture-full-burst",
    "if (batch.add(offset, length, wireLength, port, link) < 0) break;",
    "batch.add(offset, length, wireLength, port, link);",
    "frames that a burst has no row for",
    SUMS,
  ),
  mutant(
    "model/burst",
    "capture-full-bytes",
    "if (length > MAX_FRAME || offset + length > FRAME_ARENA) break;",
    "if (length > MAX_FRAME) break;",
    "frames that a burst has no bytes for",
    SUMS,
  ),
  mutant(
    "model/burst",
    "capture-long-frame",
    "if (length > MAX_FRAME || offset + length > FRAME_ARENA) break;",
    "if (offset + length > FRAME_ARENA) break;",
    "frames that are too long, behind others",
    SUMS,
  ),
  mutant(
    "model/burst",
    "capture-link-type",
    "row < end && linkTypes[row] === linkType; row++",
    "row < end; row++",
    "frames of another link type behind others",
    SUMS,
  ),
  mutant(
    "formats/captureRun",
    "capture-others-sums",
    "known.shapes.clear();\n    return known;",
    "return known;",
    "a core that others have summed with",
    SUMS,
  ),
  mutant("formats/captureRun", "capture-flush", "this.#alike.length = 0;", "", "sums that are added twice", SUMS),
  mutant(
    "formats/trial",
    "trial-worse",
    "!this.alone : alone <= spread",
    "!this.alone : alone > spread",
    "whether several cores are faster",
    ["test/run/adaptiveMode.test.ts"],
  ),
  mutant(
    "formats/trial",
    "trial-once",
    "this.#tries = !triedBoth || !this.#tries;",
    "this.#tries = !triedBoth;",
    "ways that become better later",
    ["test/run/adaptiveMode.test.ts"],
  ),
  mutant(
    "formats/tally",
    "tally-weight",
    "sum.frames += by.frames;",
    "sum.frames++;",
    "how many frames are alike",
    SUMS,
  ),
  mutant(
    "packet/capture/read",
    "capture-held-rows",
    "if (rows.count > 0) break;",
    "",
    "frames that began in the chunk before",
    SUMS,
  ),
  mutant("cli/rows", "csv-quotes", `text.replaceAll('"', '""')`, "text", "quotes inside quotes", ROWS),
  mutant("cli/rows", "csv-no-tag", 'noTag: "",', 'noTag: "0",', "a tag where there is none", ROWS),
];
