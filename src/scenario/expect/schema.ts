/** The part of the schema that says what must come out. */
import { Reason, Verdict } from "../../abi/engine.js";
import { REGISTER_NAMES } from "../../model/traffic/outcomeReader.js";
import { headers } from "../action/schema.js";
import type {
  ExpectedCount,
  ExpectedFrame,
  ExpectedOutcome,
  ExpectedRegisters,
  ExpectedTotals,
  ScenarioExpectations,
} from "../document.js";
import { EXPECTED_MESSAGE } from "../message/schema.js";
import { objectOf, type JsonSchema } from "../schema/validator.js";
import { EXPECTED_ASO } from "../state/schema.js";
import { count, integer, list, mapOf, MAX_TAG, MAX_U32, name, namesOf, orNull, TERM, text } from "../schema/parts.js";

const TAG: JsonSchema = { description: "A tag, 0 without one.", type: "integer", minimum: 0, maximum: MAX_TAG };

const BYTES: JsonSchema = {
  anyOf: [
    text("Its bytes as hexadecimal digits.", { examples: ["020000000001"] }),
    headers("Its bytes as headers."),
    mapOf("Fields and what they hold, as in matches; null for a field that is not there.", {
      anyOf: [...(TERM.anyOf ?? []), { description: "It is not there.", type: "null" }],
    }),
    { description: "Not compared.", type: "null" },
  ],
};

const REGISTERS = objectOf<ExpectedRegisters>(
  "The metadata registers that hold what a rule wrote, all of them.",
  {},
  Object.fromEntries(REGISTER_NAMES.map((one) => [one, integer(`Register ${one}.`, 0, MAX_U32)])) as Required<
    Record<keyof ExpectedRegisters, JsonSchema>
  >,
);

const OUTCOME_KEYS = {
  verdict: text("What became of it.", { enum: namesOf(Verdict) }),
  reason: orNull("Why, where the verdict alone does not say it; null for none.", {
    type: "string",
    enum: namesOf(Reason),
  }),
  to: list(
    "Its destinations, in order.",
    name("A destination: qp: and a queue, or host: or port: and a number.", "qp:web"),
  ),
  toTags: list("The tag that each destination got with it, in the order of to.", TAG),
  tag: orNull("Its tag; null for none.", { type: "integer", minimum: 0, maximum: MAX_TAG }),
  rules: list("Names of the rules that it hit, in order.", name("A rule.")),
  copies: list("Where copies of it went while it went on, in order.", name("A destination.", "qp:tap")),
  copyTags: list("The tag that each copy carries, in the order of copies.", TAG),
  registers: REGISTERS,
  toFrames: list("What arrived at each destination, in the order of to.", BYTES),
  copyFrames: list("The same of each copy.", BYTES),
} satisfies Record<string, JsonSchema>;

const EXPECTED_FRAME = objectOf<ExpectedFrame>(
  "What becomes of a frame; what is left out is not compared.",
  { frame: true },
  {
    frame: {
      description: "Which frame: its number from 1, or its name.",
      anyOf: [integer("Number.", 1, Number.MAX_SAFE_INTEGER), name("Name.")],
    },
    ...OUTCOME_KEYS,
    beyond: mapOf(
      'What became of it at the port that it came to, by the port that it left, such as "port:1".',
      objectOf<ExpectedOutcome>("What is left out is not compared.", {}, OUTCOME_KEYS),
    ),
  },
);

const COUNT = objectOf<ExpectedCount>(
  "What a counter has counted.",
  {},
  { packets: count("Frames."), bytes: count("Bytes of the frames, without FCS.") },
);

export const EXPECT = objectOf<ScenarioExpectations>(
  "What must come out: of the frames of this document, or, where it has none, of the captures that it is run over.",
  {},
  {
    messages: list("Message by message; messages that are not named are not compared.", EXPECTED_MESSAGE),
    frames: list("Frame by frame; frames that are not named are not compared.", EXPECTED_FRAME),
    counters: mapOf("Counters by name.", {
      anyOf: [COUNT, list("The counters of a bulk, by offset; null is not compared.", orNull("A counter.", COUNT))],
    }),
    asoObjects: mapOf("ASO objects by name.", EXPECTED_ASO),
    flowCounters: mapOf(
      "Flow counters by name: what ibv_read_counters gives, by index.",
      list("The values, from index 0 on.", count("Packets or bytes.")),
    ),
    totals: objectOf<ExpectedTotals>(
      "Sums over all frames.",
      {},
      {
        frames: count("Frames."),
        bytes: count("Bytes on the wire."),
        verdicts: mapOf("Frames by verdict; a verdict that is left out is not compared.", count("Frames.")),
        to: mapOf('Frames by destination, such as "qp:web".', count("Frames.")),
        copies: mapOf("Copies by destination.", count("Copies.")),
        rules: mapOf("Hits by rule name.", count("Frames.")),
      },
    ),
  },
);
