/**
 * `dest_ib_port(1)` and `dest_vport(0xffff)` of a device with one port: the same outcome in every
 * place and from every source.
 */
import { expect, test } from "vitest";
import type { Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import { ipv4Frame } from "../support/directRules.js";
import { openSwitch, type Place, ruleFor, type SwitchBench } from "../support/switchBench.js";

const UPLINK = 0xffff;
const HEADERS = ipv4Frame().subarray(0, 34);
const toUplink = ({ domain }: Place): Action => dv.mlx5dv_dr_action_create_dest_vport(domain, UPLINK);
const toPort = ({ domain }: Place): Action => dv.mlx5dv_dr_action_create_dest_ib_port(domain, 1);
const toVf = ({ domain }: Place): Action => dv.mlx5dv_dr_action_create_dest_vport(domain, 1);

type Ends = (place: Place, end: Action) => Action[];

const array = ({ domain }: Place, ...dests: Parameters<typeof dv.mlx5dv_dr_action_create_dest_array>[2]): Action =>
  dv.mlx5dv_dr_action_create_dest_array(domain, undefined, dests);
const member = (dest: Action) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest });

function sampled(place: Place, next: readonly Action[], sample_actions: Action[]): Action[] {
  const table = dv.mlx5dv_dr_table_create(place.domain, 2);
  ruleFor(table, {}, next);
  return [dv.mlx5dv_dr_action_create_flow_sampler({ sample_ratio: 1, default_next_table: table, sample_actions })];
}

const PLACES: Readonly<Record<string, Ends>> = {
  "the end of a rule": (_, end) => [end],
  "the only ends of an array": (place, end) => [array(place, member(end), member(end))],
  "a member of an array": (place, end) => [array(place, member(toVf(place)), member(end))],
  "a member with a reformat": (place, end) => {
    const reformat = dv.mlx5dv_dr_action_create_packet_reformat(place.domain, 0, 1, HEADERS.length, HEADERS);
    const changed = { type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT, dest_reformat: { reformat, dest: end } };
    return [array(place, changed, member(toVf(place)))];
  },
  "an action of a sampler": (place, end) => sampled(place, [toVf(place)], [end]),
  "the end of the rest of a sampler": (place, end) => sampled(place, [end], [toVf(place)]),
};

/** The outcomes of a frame from the wire, from the PF and from a VF; and the counted reasons. */
async function outcomes(ends: Ends, end: (place: Place) => Action): Promise<unknown[]> {
  const bench: SwitchBench = await openSwitch({ ports: 1 });
  const { device, fdb, queues } = bench;
  ruleFor(fdb.root, {}, [dv.mlx5dv_dr_action_create_dest_table(fdb.table)]);
  ruleFor(fdb.table, {}, ends(fdb, end(fdb)));
  const told = ({ verdict, reason, to, copies }: Outcome): unknown[] => [
    verdict,
    reason,
    ...[to, copies].map((list) => list.map(({ name, frame }) => `${name} ${frame.length}`)),
  ];
  const frame = ipv4Frame();
  const all = [device.receive(1, frame), device.send(queues[0]!, frame), device.send(queues[1]!, frame)].map(told);
  return [...all, device.reasons()];
}

test.each(Object.entries(PLACES))("%s", async (_, ends) => {
  expect(await outcomes(ends, toPort)).toEqual(await outcomes(ends, toUplink));
});

test("drops what comes from the wire, and sends out what comes from functions", async () => {
  const [wire, ...sent] = await outcomes(PLACES["the end of a rule"]!, toPort);
  expect(wire).toEqual(["drop", "wire_to_wire", [], []]);
  expect(sent.slice(0, 2)).toEqual(Array(2).fill(["transmit", null, ["port:1 64"], []]));
});

test("the sampled copy from the wire is dropped, its frame goes on", async () => {
  const [wire, , , reasons] = await outcomes(PLACES["an action of a sampler"]!, toPort);
  expect(wire).toEqual(["miss", "no_rule", [], []]);
  expect(reasons).toMatchObject({ wire_to_wire: 1n });
});
