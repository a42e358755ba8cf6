/** Every function of the verbs with values of wrong types, and with destroyed objects. */
import * as v from "../../src/verbs/index.js";
import { MISSING_VERBS } from "../../src/verbs/missing.js";
import { testEveryCall } from "../support/everyCall.js";
import { everyCall } from "./support/everyCall.js";

/** They refuse every call, or need a completion that is being polled. */
const REFUSING = Object.keys(v).filter((name) =>
  /^ibv_(wc_read|wr_(atomic|bind|flush|local|rdma|send_(inv|tso)|set_xrc)|start_poll|next_poll|end_poll|get_.*_event|ack_)/.test(
    name,
  ),
);

testEveryCall(v, everyCall, [...REFUSING, ...Object.values(MISSING_VERBS).flat()], ["ibv_wr_set_ud_addr"]);
