/** Section `expect`: what is expected of frames, messages, counters and state. */
import { Reason, Verdict } from "../../abi/outcome.js";
import type { ReasonName, VerdictName } from "../../model/traffic/outcome.js";
import { REGISTER_NAMES } from "../../model/traffic/outcomeReader.js";
import { headers } from "../frame/headers.js";
import { EXPECTED_MESSAGE } from "../message/definition.js";
import {
  either,
  integer,
  keyed,
  list,
  mapOf,
  name,
  nothing,
  object,
  orNull,
  shared,
  text,
  word,
  type Static,
} from "../schema/define.js";
import { count, expectedFields, MAX_TAG, MAX_U32, namesOf } from "../schema/parts.js";
import { EXPECTED_ASO } from "../state/definition.js";

const TAG = integer("A tag, 0 without one.", 0, MAX_TAG);

const BYTES = shared(
  "expectedBytes",
  either(
    null,
    text("Its bytes as hexadecimal digits.", { examples: ["020000000001"] }),
    headers("Its bytes as headers."),
    expectedFields("Fields and their values, as in matches; null for a field that is not there."),
    nothing("Not compared."),
  ),
);
export type ExpectedBytes = Static<typeof BYTES>;

export type RegisterName = (typeof REGISTER_NAMES)[number];

const REGISTERS = object(
  "The metadata registers that a rule has written, all of them.",
  [],
  keyed(REGISTER_NAMES, (one) => integer(`Register ${one}.`, 0, MAX_U32)),
);

const OUTCOME_KEYS = {
  verdict: word("Its verdict.", namesOf(Verdict) as VerdictName[]),
  reason: orNull(
    "The reason, where the verdict alone does not say it; null for none.",
    word("A reason.", namesOf(Reason) as ReasonName[]),
  ),
  to: list(
    "Its destinations, in order.",
    name("A destination: qp: and a queue, or host: or port: and a number.", "qp:web"),
  ),
  toTags: list("The tag that each destination received with it, in the order of to.", TAG),
  tag: orNull("Its tag; null for none.", integer("A tag.", 0, MAX_TAG)),
  rules: list("Names of the rules that it hit, in order.", name("A rule.")),
  copies: list(
    "The destinations of copies that were made while it continued, in order.",
    name("A destination.", "qp:tap"),
  ),
  copyTags: list("The tag that each copy carries, in the order of copies.", TAG),
  registers: REGISTERS,
  toFrames: list("What arrived at each destination, in the order of to.", BYTES),
  copyFrames: list("The same of each copy.", BYTES),
};

const EXPECTED_OUTCOME = shared(
  "expectedOutcome",
  object("The expected outcome. Omitted keys are not compared.", [], OUTCOME_KEYS),
);
/** What is expected of an outcome. */
export type ExpectedOutcome = Static<typeof EXPECTED_OUTCOME>;

const EXPECTED_FRAME = object("The expected outcome of a frame. Omitted keys are not compared.", ["frame"], {
  frame: either(
    "Which frame: its number from 1, or its name.",
    integer("Number.", 1, Number.MAX_SAFE_INTEGER),
    name("Name."),
  ),
  ...OUTCOME_KEYS,
  beyond: mapOf(
    'Its outcome at the port where it arrived next, by the port that it left, such as "port:1".',
    EXPECTED_OUTCOME,
  ),
});
export type ExpectedFrame = Static<typeof EXPECTED_FRAME>;

const COUNT = object("What a counter has counted.", [], {
  packets: count("Frames."),
  bytes: count("Bytes of the frames, without FCS."),
});
export type ExpectedCount = Static<typeof COUNT>;

const TOTALS = object("Sums over all frames.", [], {
  frames: count("Frames."),
  bytes: count("Bytes on the wire."),
  verdicts: mapOf("Frames by verdict; a verdict that is left out is not compared.", count("Frames.")),
  to: mapOf('Frames by destination, such as "qp:web".', count("Frames.")),
  copies: mapOf("Copies by destination.", count("Copies.")),
  rules: mapOf("Hits by rule name.", count("Frames.")),
});
export type ExpectedTotals = Static<typeof TOTALS>;

export const EXPECT = object(
  "What is expected of the frames of this document, or, where it has none, of the captures that it is run over.",
  [],
  {
    messages: list("Message by message; messages that are not named are not compared.", EXPECTED_MESSAGE),
    frames: list("Frame by frame; frames that are not named are not compared.", EXPECTED_FRAME),
    counters: mapOf(
      "Counters by name.",
      either(
        null,
        COUNT,
        list("The counters of a bulk, by offset; null is not compared.", orNull("A counter.", COUNT)),
      ),
    ),
    asoObjects: mapOf("ASO objects by name.", EXPECTED_ASO),
    flowCounters: mapOf(
      "Flow counters by name: the values of ibv_read_counters, by index.",
      list("The values, from index 0 on.", count("Packets or bytes.")),
    ),
    totals: TOTALS,
  },
);
export type ScenarioExpectations = Static<typeof EXPECT>;
