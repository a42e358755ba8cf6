/**
 * Compares the actions of direct rules with Open vSwitch: its frames, the same changes, and its
 * output bytes.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createDevice, createSink } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Domain } from "../../../src/model/table/domain.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { hexBytes, hexOf } from "../../../src/packet/bytes.js";
import { ovsFiles, withoutDifferences, type OvsAction, type OvsCase } from "../../golden/ovs/cases.js";

const bytesOf = (hex: string): Uint8Array => hexBytes(hex) ?? new Uint8Array();

/**
 * A domain, a table after its root table that matches everything, and how a frame enters and leaves
 * it.
 */
interface Place {
  domain: Domain;
  matcher: Matcher;
  terminal: Action[];
  steer: (frame: Uint8Array) => Uint8Array | undefined;
}

async function open(type: number, end: (domain: Domain, queue: QueuePair) => Action[]): Promise<Place> {
  const device = await createDevice({ ports: 2 });
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const queue = createSink(context, "web");
  const domain = dv.mlx5dv_dr_domain_create(context, type);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const table = dv.mlx5dv_dr_table_create(domain, 1);
  const onward = dv.mlx5dv_dr_action_create_dest_table(table);
  dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(root, 0, 0, null), null, 1, [onward]);
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 0, null);
  const sent = type === dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
  const steer = (frame: Uint8Array): Uint8Array | undefined =>
    (sent ? device.send(queue, frame) : device.receive(1, frame)).to[0]?.frame;
  return { domain, matcher, terminal: end(domain, queue), steer };
}

function made({ domain }: Place, action: OvsAction): Action {
  switch (action.action) {
    case "modify":
      return dv.mlx5dv_dr_action_create_modify_header(domain, 0, undefined, action.actions);
    case "push_vlan":
      return dv.mlx5dv_dr_action_create_push_vlan(domain, action.vlan_hdr);
    case "pop_vlan":
      return dv.mlx5dv_dr_action_create_pop_vlan();
    case "reformat": {
      const data = action.data === undefined ? null : bytesOf(action.data);
      return dv.mlx5dv_dr_action_create_packet_reformat(domain, 0, action.reformat_type, data?.length ?? 0, data);
    }
  }
}

/** The frame on arrival, with all calls made and undone. */
function steered(place: Place, { frame, actions }: OvsCase): string {
  const objects = actions.map((action) => made(place, action));
  const rule = dv.mlx5dv_dr_rule_create(place.matcher, null, undefined, [...objects, ...place.terminal]);
  const arrived = place.steer(bytesOf(frame));
  dv.mlx5dv_dr_rule_destroy(rule);
  for (const object of objects) dv.mlx5dv_dr_action_destroy(object);
  return arrived === undefined ? "nothing" : hexOf(arrived);
}

const PLACES: Record<string, () => Promise<Place>> = {
  "received, to a queue": () =>
    open(dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX, (_, queue) => [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]),
  sent: () => open(dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX, () => []),
  "through the eSwitch": () =>
    open(dv.MLX5DV_DR_DOMAIN_TYPE_FDB, (domain) => [dv.mlx5dv_dr_action_create_dest_ib_port(domain, 2)]),
};

describe.each(Object.entries(PLACES))("%s", (_, openPlace) => {
  let place: Place;
  beforeAll(async () => {
    place = await openPlace();
  });
  for (const [file, cases] of ovsFiles()) {
    test.each(cases.map((one) => [one.name, one] as const))(`${file}: %s`, (__, one) => {
      expect(withoutDifferences(steered(place, one), one)).toBe(withoutDifferences(one.out, one));
    });
  }
});

test("bytes that may differ are few, and hide nothing of ours", async () => {
  const place = await PLACES["sent"]!();
  const listed = ovsFiles().flatMap(([, cases]) => cases.filter(({ differences }) => differences.length > 0));
  expect(listed.length).toBeGreaterThan(0);
  for (const one of listed) {
    const ours = steered(place, one);
    for (const { offset, length, what } of one.differences) {
      const at = (hex: string): string => hex.slice(2 * offset, 2 * (offset + length));
      expect(at(ours), `${one.name}: ${what}`).not.toBe(at(one.out));
      if (what === "udp_source_port") expect(parseInt(at(ours), 16)).toBeGreaterThanOrEqual(0xc000);
      if (what === "udp_checksum") expect(at(ours)).toBe("0000");
      if (what === "fragment_payload") expect(at(ours)).toBe(at(one.frame));
    }
  }
});
