/**
 * Why a device refuses a command: a status, which is the device's, and a syndrome. MODEL: syndromes are ours; the device's are
 * not public. They are stable: programs may compare them.
 */
import type { ErrnoName } from "../../errors.js";

/** `status` of an output, and what it is where the library tells it by errno. */
export const STATUS = {
  bad_opcode: 0x02,
  bad_parameter: 0x03,
  bad_resource: 0x05,
  resource_busy: 0x06,
  limit: 0x08,
  bad_resource_state: 0x09,
  bad_index: 0x0a,
  bad_input_length: 0x50,
  bad_output_length: 0x51,
} as const;

interface Cause {
  readonly status: number;
  readonly syndrome: number;
  readonly text: string;
}

const cause = (status: number, syndrome: number, text: string): Cause => ({ status, syndrome, text });

export const SYNDROMES = {
  unknown_opcode: cause(STATUS.bad_opcode, 0x0201, "no command has this opcode"),
  wrong_call: cause(STATUS.bad_opcode, 0x0202, "the command is for another call"),
  bad_value: cause(STATUS.bad_parameter, 0x0301, "a field has a value that it cannot have"),
  unsupported: cause(STATUS.bad_parameter, 0x0302, "the device does not support this"),
  unknown_object_type: cause(STATUS.bad_parameter, 0x0303, "no general object has this type"),
  value_outside_mask: cause(STATUS.bad_parameter, 0x0304, "the match value has a bit that the criteria leave out"),
  bad_actions: cause(STATUS.bad_parameter, 0x0305, "these actions cannot stand in one entry"),
  not_manager: cause(STATUS.bad_parameter, 0x0306, "only the function that manages the eSwitch can do this"),
  refused: cause(STATUS.bad_parameter, 0x0307, "the parameters are refused"),
  unknown_object: cause(STATUS.bad_resource, 0x0501, "the context has no object of this kind with this number"),
  other_object: cause(STATUS.bad_resource, 0x0502, "the command names another object than the call"),
  other_table: cause(STATUS.bad_resource, 0x0503, "the object is of a table of another type"),
  in_use: cause(STATUS.resource_busy, 0x0601, "the object is still in use"),
  no_memory: cause(STATUS.limit, 0x0801, "the device has no memory left"),
  overlap: cause(STATUS.bad_resource_state, 0x0901, "another one has taken these indexes"),
  outside_group: cause(STATUS.bad_index, 0x0a01, "the index is not of the group"),
  outside_table: cause(STATUS.bad_index, 0x0a02, "the table has no such index"),
  short_input: cause(STATUS.bad_input_length, 0x5001, "the input is too short"),
  short_output: cause(STATUS.bad_output_length, 0x5101, "the output is too short"),
} as const satisfies Readonly<Record<string, Cause>>;

export type SyndromeName = keyof typeof SYNDROMES;

/** What a refusal of the model is to a device. */
export function syndromeOf(code: ErrnoName): SyndromeName {
  switch (code) {
    case "ENOMEM":
      return "no_memory";
    case "EBUSY":
      return "in_use";
    case "EOPNOTSUPP":
    case "ENOTSUP":
      return "unsupported";
    default:
      return "refused";
  }
}
