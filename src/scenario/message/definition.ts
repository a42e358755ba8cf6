/** Section `messages`: what connected queue pairs send, and what is expected of it. */
import { either, integer, name, object, oneKeyOf, orNull, text, word, type Static } from "../schema/define.js";
import { about, MAX_U32 } from "../schema/parts.js";

/** IBV_WC_ is left out. */
export const WC_STATUSES = {
  success: 0,
  loc_len_err: 1,
  wr_flush_err: 5,
  rem_inv_req_err: 9,
  rem_access_err: 10,
  rem_op_err: 11,
  retry_exc_err: 12,
  rnr_retry_exc_err: 13,
} as const;
export type ScenarioCompletionStatus = keyof typeof WC_STATUSES;

export const MESSAGE = object(
  "A message from a queue of type rc or uc to its peer: a SEND of ibv_post_send, which completes in any case.",
  ["queue"],
  {
    name: name("Its name, for expectations.", "hello"),
    description: about,
    queue: name("The queue that sends it.", "client"),
    hex: text("Its bytes as hexadecimal digits, white space and colons between bytes ignored; it can be empty."),
    base64: text("Its bytes as base64."),
    imm_data: integer("Immediate data: the message is a SEND_WITH_IMM.", 0, MAX_U32),
  },
  oneKeyOf("hex", "base64"),
);
export type ScenarioMessage = Static<typeof MESSAGE>;

const STATUS = (whose: string) =>
  word(
    `The status of the completion of ${whose}, without IBV_WC_.`,
    Object.keys(WC_STATUSES) as ScenarioCompletionStatus[],
  );

const EXPECTED_RECEIVE = object("The expected completion. Omitted keys are not compared.", [], {
  status: STATUS("the peer"),
  hex: text("The bytes that arrived, as hexadecimal digits."),
  imm_data: orNull("The immediate data that arrived; null for none.", integer("Immediate data.", 0, MAX_U32)),
});
export type ExpectedReceive = Static<typeof EXPECTED_RECEIVE>;

export const EXPECTED_MESSAGE = object(
  "The expected result of a message. Omitted keys are not compared.",
  ["message"],
  {
    message: either(
      "Which message: its number from 1, or its name.",
      integer("Number.", 1, Number.MAX_SAFE_INTEGER),
      name("Name."),
    ),
    status: STATUS("the sender"),
    received: orNull("How the receive request of the peer completed; null where none did.", EXPECTED_RECEIVE),
  },
);
export type ExpectedMessage = Static<typeof EXPECTED_MESSAGE>;
