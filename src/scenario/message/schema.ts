/** The part of the schema that says which messages connected queue pairs send, and what comes of them. */
import { WC_STATUSES, type ExpectedMessage, type ExpectedReceive, type ScenarioMessage } from "./types.js";
import { objectOf, type JsonSchema } from "../schema/validator.js";
import { about, integer, MAX_U32, name, orNull, text } from "../schema/parts.js";

export const MESSAGE = objectOf<ScenarioMessage>(
  "A message from a queue of type rc or uc to its peer: a SEND of ibv_post_send, which completes in any case.",
  { queue: true },
  {
    name: name("Its name, for expectations.", "hello"),
    description: about,
    queue: name("The queue that sends it.", "client"),
    hex: text("Its bytes as hexadecimal digits, white space and colons between bytes ignored; it may have none."),
    base64: text("Its bytes as base64."),
    imm_data: integer("Immediate data: the message is a SEND_WITH_IMM.", 0, MAX_U32),
  },
  { oneOf: [{ required: ["hex"] }, { required: ["base64"] }] },
);

const STATUS = (whose: string): JsonSchema =>
  text(`The status of the completion of ${whose}, IBV_WC_ left out.`, { enum: Object.keys(WC_STATUSES) });

export const EXPECTED_MESSAGE = objectOf<ExpectedMessage>(
  "What comes of a message; what is left out is not compared.",
  { message: true },
  {
    message: {
      description: "Which message: its number from 1, or its name.",
      anyOf: [integer("Number.", 1, Number.MAX_SAFE_INTEGER), name("Name.")],
    },
    status: STATUS("the sender"),
    received: orNull(
      "How the receive request of the peer completed; null where none did.",
      objectOf<ExpectedReceive>(
        "What is left out is not compared.",
        {},
        {
          status: STATUS("the peer"),
          hex: text("The bytes that arrived, as hexadecimal digits."),
          imm_data: orNull("The immediate data that came; null for none.", integer("Immediate data.", 0, MAX_U32)),
        },
      ),
    ),
  },
);
