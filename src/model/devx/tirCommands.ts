/** CREATE_TIR, CREATE_RQT (docs/devx.md, "TIRs and RQTs"). */
import { HASH_TOEPLITZ, RSS_IPV6, RSS_KEY_SIZE, RSS_SPI, RSS_UDP } from "../../abi/state.js";
import { Rqt } from "../queuePair/rqt.js";
import { Tir, type TirDestination } from "../queuePair/tir.js";
import type { Command } from "./command.js";
import {
  CREATE_RQT,
  OUTPUT_24,
  readFields,
  RQ_NUMBER,
  RQ_NUMBERS_AT,
  TIR_CONTEXT,
  TIR_CONTEXT_AT,
  TIR_KEY_AT,
} from "./layouts.js";

const DIRECT = 0;
const INDIRECT = 1;
/** Source and destination address, source and destination port, SPI. */
const FIELDS = 2 * RSS_SPI - 1;

type TirContext = Record<keyof typeof TIR_CONTEXT.fields, number>;

export function createTir(command: Command): Tir {
  const context = command.read(TIR_CONTEXT, TIR_CONTEXT_AT);
  const to = destinationOf(command, context);
  const made = command.carry(() => Tir.create(command.context, to));
  command.succeed(OUTPUT_24, { id: made.id });
  return made;
}

function destinationOf(command: Command, context: TirContext): TirDestination {
  const { disp_type, inline_q_type, inline_rqn, indirect_table, rx_hash_fn } = context;
  switch (disp_type) {
    case DIRECT:
      if (inline_q_type !== 0) command.fail("unsupported", "inline_q_type", inline_q_type, "0: a receive queue");
      return { rqn: inline_rqn };
    case INDIRECT: {
      if (rx_hash_fn > HASH_TOEPLITZ) command.fail("bad_value", "rx_hash_fn", rx_hash_fn, "0 to 2");
      const hash = {
        function: rx_hash_fn,
        symmetric: context.rx_hash_symmetric !== 0,
        outer: fieldsOf(command, "outer_fields", context.outer_l3, context.outer_l4, context.outer_fields),
        inner: fieldsOf(command, "inner_fields", context.inner_l3, context.inner_l4, context.inner_fields),
        key: command.bytes(TIR_CONTEXT_AT + TIR_KEY_AT, RSS_KEY_SIZE),
      };
      return { rqt: command.object<Rqt>("rqt", "indirect_table", indirect_table), hash };
    }
    default:
      return command.fail("bad_value", "disp_type", disp_type, "0 direct, 1 indirect");
  }
}

/** RSS_* of a field selector. */
function fieldsOf(command: Command, path: string, l3: number, l4: number, fields: number): number {
  if (fields > FIELDS) {
    command.fail("unsupported", path, `0x${fields.toString(16)}`, "addresses, ports, SPI: five bits");
  }
  return fields | (l3 === 0 ? 0 : RSS_IPV6) | (l4 === 0 ? 0 : RSS_UDP);
}

export function createRqt(command: Command): Rqt {
  const { list_q_type, rqt_actual_size } = command.read(CREATE_RQT);
  if (list_q_type !== 0) command.fail("unsupported", "list_q_type", list_q_type, "0: receive queues");
  command.expect(RQ_NUMBERS_AT + rqt_actual_size * RQ_NUMBER.size, OUTPUT_24.size);
  const numbers = Array.from({ length: rqt_actual_size }, (_, i) => {
    return readFields(command.in, RQ_NUMBER, RQ_NUMBERS_AT + i * RQ_NUMBER.size).rq_num;
  });
  const made = command.carry(() => Rqt.create(command.context, numbers));
  command.succeed(OUTPUT_24, { id: made.id });
  return made;
}
