/** Planted faults of the command and of captures in bursts. No core is built for them. */

const SUMS = ["test/formats/captureRun.node.test.ts"];
const ROWS = ["test/cli/formats.node.test.ts"];

const mutant = (file, id, search, replace, breaks, sees) => {
  return { id, file: `src/${file}.ts`, search, replace, breaks, sees };
};

export const CLI = [
  mutant(
    "engine/shapes",
    "shape-length",
    "batch.lengthAt(destination) - length;",
    "0;",
    "frames that are lengthened by more or less",
    SUMS,
  ),
  mutant(
    "engine/shapes",
    "shape-same",
    "if (words[other + n] !== words[begin + n]) return false;",
    "",
    "whatever has one hash",
    SUMS,
  ),
  mutant(
    "formats/captureRun",
    "capture-full-burst",
    "wireLengthOf(frames, row)) < 0) return row;",
    "wireLengthOf(frames, row)) < 0) continue;",
    "frames that a burst has no room for",
    SUMS,
  ),
  mutant("formats/captureRun", "capture-flush", "this.#alike.length = 0;", "", "sums that are added twice", SUMS),
  mutant(
    "formats/tally",
    "tally-weight",
    "sum.frames += by.frames;",
    "sum.frames++;",
    "how many frames are alike",
    SUMS,
  ),
  mutant(
    "packet/capture",
    "capture-held-rows",
    "if (rows.count > 0) break;",
    "",
    "frames that began in the chunk before",
    SUMS,
  ),
  mutant("cli/rows", "csv-quotes", `text.replaceAll('"', '""')`, "text", "quotes inside quotes", ROWS),
  mutant("cli/rows", "csv-no-tag", 'noTag: "",', 'noTag: "0",', "a tag where there is none", ROWS),
];
