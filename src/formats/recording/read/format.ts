/** Recordings of programs, as a format. */
import type { Format } from "../../reading/format.js";
import { HEAD } from "./calls.js";
import { CALLS } from "./elements.js";
import { RecordingImport } from "./importer.js";

export const RECORDING: Format = {
  title: "what flowsteer record has recorded of a program",
  hasDeviceFields: true,
  recognizes: (text) => HEAD.test(text) || /^[ \t]*\{"call":"(ibv|mlx5dv)_/m.test(text.slice(0, RECOGNIZED)),
  importer: (draft, findings) => new RecordingImport(draft, findings),
  elements: { Calls: CALLS },
};

/** Characters of a text that are looked at. */
const RECOGNIZED = 100_000;
