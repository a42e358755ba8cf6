/**
 * Cases for actions. All of them belong to the flow, not to a packet, so none accepts
 * IBV_FLOW_SPEC_INNER.
 */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { FlowAction } from "../../../../src/model/action/flowAction.js";
import * as v from "../../../../src/verbs/index.js";
import { count, DONT_TRAP, dport, DROP, EGRESS, tag, TCP } from "../../support/flows.js";
import { FRAME, OTHER, UDP_FRAME } from "./frames.js";
import { casesOf, inner, MISS, same, type Case, type Probe, type Run } from "./record.js";

const actionOf = ({ context }: Probe): FlowAction =>
  dv.mlx5dv_create_flow_action_modify_header(
    context,
    undefined,
    [{ type: "set", field: "METADATA_REG_C_0", data: 1 }],
    dv.MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
  );

const handle = (action: object) => ({ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action });

const TAG: Readonly<Record<string, Run>> = {
  tag_id: (probe) => {
    for (const id of [1, 0xabcdef, 0xffffff]) {
      const flow = probe.flow("a", [TCP, tag(id)]);
      probe.gets(FRAME, `a${id} deliver`);
      v.ibv_destroy_flow(flow);
    }
    probe.flow("a", [tag(0), TCP]);
    probe.gets(FRAME, "a deliver");
  },
  "tag_id above 24 bits": (probe) => {
    for (const id of [2 ** 24, 0xffffffff]) probe.refuses("EINVAL", [TCP, tag(id)]);
  },
  "a second one": (probe) => probe.refuses("EINVAL", [tag(1), TCP, tag(1)]),
  "another one on an identical flow": (probe) => {
    probe.flow("a", [TCP, tag(5)]);
    probe.refuses("EEXIST", [TCP, tag(6)]);
    probe.flow("b", [TCP]);
    probe.gets(FRAME, "a5 b5 deliver");
  },
};

/** The flow counts the frames it drops, and no later stage receives them. */
const drops =
  (over: object): Run =>
  (probe) => {
    const counters = probe.bench.counters();
    probe.flow("a", [TCP, DROP, count(counters)], over);
    probe.flow("b", [TCP], { priority: 1 });
    probe.gets(FRAME, "drop drop_action");
    probe.gets(UDP_FRAME, MISS);
    probe.counts(counters, 1, 64);
  };

const DROPS: Readonly<Record<string, Run>> = {
  "(no field)": drops({}),
  "beside DONT_TRAP": drops(DONT_TRAP),
  "on an identical flow that delivers": (probe) => {
    probe.flow("a", [TCP]);
    probe.refuses("EEXIST", [TCP, DROP]);
    probe.gets(FRAME, "a deliver");
  },
};

const HANDLE: Readonly<Record<string, Run>> = {
  action: (probe) => {
    const action = actionOf(probe);
    const flows = [probe.flow("a", [TCP, handle(action)]), probe.flowOfBytes("b", [TCP, handle(action)])];
    probe.gets(FRAME, "a b deliver");
    same(action.users, 2, "users of the action");
    probe.refusesCall("EBUSY", () => v.ibv_destroy_flow_action(action));
    for (const flow of flows) v.ibv_destroy_flow(flow);
    v.ibv_destroy_flow_action(action);
  },
  "another action on an identical flow": (probe) => {
    probe.flow("a", [TCP, handle(actionOf(probe))]);
    probe.refuses("EEXIST", [TCP, handle(actionOf(probe))]);
    probe.refuses("EEXIST", [TCP]);
    probe.gets(FRAME, "a deliver");
  },
  "action beside DONT_TRAP": (probe) => probe.refuses("EINVAL", [TCP, handle(actionOf(probe))], DONT_TRAP),
  "action of the other direction": (probe) => probe.refuses("EINVAL", [TCP, handle(actionOf(probe))], EGRESS),
  "action of another device": async (probe) => {
    const foreign = actionOf(await probe.another());
    probe.refuses("EINVAL", [TCP, handle(foreign)]);
  },
  "action that is none": (probe) => {
    probe.refusesCall("EINVAL", () => probe.flowOfBytes("a", [TCP, handle({ handle: 0x7fff })]));
    const gone = actionOf(probe);
    v.ibv_destroy_flow_action(gone);
    probe.refuses("EINVAL", [TCP, handle(gone)]);
    probe.refusesCall("EINVAL", () => probe.flowOfBytes("a", [TCP, handle(gone)]));
  },
};

const COUNT: Readonly<Record<string, Run>> = {
  counters: (probe) => {
    const counters = probe.bench.counters();
    probe.flow("a", [dport(80), count(counters)]);
    probe.gets(FRAME, "a deliver");
    probe.gets(OTHER, MISS);
    probe.counts(counters, 1, 64);
    probe.flowOfBytes("b", [dport(81), count(counters)]);
    probe.gets(OTHER, "b deliver");
    probe.counts(counters, 2, 128);
  },
  "counters of another device": async (probe) => {
    const other = await probe.another();
    probe.refuses("EINVAL", [TCP, count(other.bench.counters())]);
  },
  "counters without points": (probe) => {
    const counters = v.ibv_create_counters(probe.context, { comp_mask: 0 });
    if (probe.connectx) {
      probe.refuses("EINVAL", [TCP, count(counters)]);
      return;
    }
    probe.flow("a", [TCP, count(counters)]);
    probe.gets(FRAME, "a deliver");
  },
  "a second one": (probe) => {
    const counters = probe.bench.counters();
    probe.refuses("EINVAL", [TCP, count(counters), count(counters)]);
  },
};

const innerAction =
  (spec: (probe: Probe) => { type: number }): Run =>
  (probe) =>
    probe.refuses("EINVAL", [TCP, inner(spec(probe))]);

export const ACTION_CASES: readonly Case[] = [
  ...casesOf("ACTION_TAG", null, TAG),
  ...casesOf("ACTION_TAG", "inner", { "(any)": innerAction(() => tag(1)) }),
  ...casesOf("ACTION_DROP", null, DROPS),
  ...casesOf("ACTION_DROP", "inner", { "(any)": innerAction(() => DROP) }),
  ...casesOf("ACTION_HANDLE", null, HANDLE),
  ...casesOf("ACTION_HANDLE", "inner", { "(any)": innerAction((probe) => handle(actionOf(probe))) }),
  ...casesOf("ACTION_COUNT", null, COUNT),
  ...casesOf("ACTION_COUNT", "inner", { "(any)": innerAction((probe) => count(probe.bench.counters())) }),
];
