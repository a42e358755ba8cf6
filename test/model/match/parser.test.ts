/**
 * Parser declarations of a device: programmable samples and Geneve option 0, by name and in device
 * bytes.
 */
import { describe, expect, test } from "vitest";
import { createDevice, type Device, type DeviceOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { cloneDevice } from "../../../src/snapshot/index.js";
import { ipv4Frame, openBench, refused } from "../../mlx5dv/support/directRules.js";

const SAMPLES: DeviceOptions = {
  parser: {
    samples: [
      { id: 2, header: "ipv4", offset: 4 },
      { id: 7, header: "payload", offset: 1, port: 9000 },
      { id: 0, header: "udp", offset: 0, port: 53 },
    ],
  },
};

/** UDP to port 9000 with the payload 00 01 02 ..., IPv4 identification and fragment word 0xaabb4000. */
function datagram(): Uint8Array {
  const frame = ipv4Frame({ protocol: 17, dport: 9000 });
  frame.set([0xaa, 0xbb, 0x40, 0x00], 18);
  for (let i = 42; i < frame.length; i++) frame[i] = i - 42;
  return frame;
}

test("samples are parsed where they are declared, and only there", async () => {
  const device = await createDevice(SAMPLES);
  const { fields } = device.parseBatch([datagram()])[0]!;
  expect(fields["misc4.prog_sample_field_value_2"]).toBe(0xaabb4000);
  expect(fields["misc4.prog_sample_field_value_7"]).toBe(0x01020304);
  expect(Object.keys(fields).filter((name) => name.startsWith("misc4"))).toHaveLength(2);
  // Four bytes or none.
  const cut = datagram().subarray(0, 46);
  expect(device.parseBatch([cut], { wireLength: 64 })[0]!.fields["misc4.prog_sample_field_value_7"]).toBeUndefined();
  expect(device.parseBatch([datagram().subarray(0, 47)], { wireLength: 64 })[0]!.fields).toHaveProperty([
    "misc4.prog_sample_field_value_7",
  ]);
});

test("a rule asks for a sample by its name, for any value of it, for a range of it", async () => {
  const { device, root, queue } = await openBench(SAMPLES);
  const open = Matcher.named(root, 0, undefined, "open");
  const to = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const verdict = (value: string | number): string => {
    const rule = Rule.named(open, { "misc4.prog_sample_field_value_7": value }, [to]);
    const { verdict } = device.receive(1, datagram());
    rule.destroy();
    return verdict;
  };
  expect(verdict(0x01020304)).toBe("deliver");
  expect(verdict(0x01020305)).toBe("miss");
  expect(verdict("0x01000000/0xff000000")).toBe("deliver");
  expect(verdict("any")).toBe("deliver");
  expect(verdict("0x01020300-0x01020304")).toBe("deliver");
  expect(verdict("0x01020305-0x01020306")).toBe("miss");
});

test("device bytes hold samples at any place, with their ids", async () => {
  const { device, root, queue } = await openBench(SAMPLES);
  const mask = new Uint8Array(384);
  const value = new Uint8Array(384);
  // Slot 0 holds sample 7, slot 5 holds sample 2.
  mask.set([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 7], 320);
  mask.set([0xff, 0xff, 0, 0, 0, 0, 0, 2], 360);
  value.set([1, 2, 3, 4, 0, 0, 0, 7], 320);
  value.set([0xaa, 0xbb, 0, 0, 0, 0, 0, 2], 360);
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0x20, mask);
  const to = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const rule = dv.mlx5dv_dr_rule_create(matcher, value, 1, [to]);
  expect(device.receive(1, datagram()).verdict).toBe("deliver");
  dv.mlx5dv_dr_rule_destroy(rule);

  value[361] = 0xba;
  dv.mlx5dv_dr_rule_create(matcher, value, 1, [to]);
  expect(device.receive(1, datagram()).verdict).toBe("miss");

  const create = (): unknown => dv.mlx5dv_dr_rule_create(matcher, value, 1, [to]);
  value[367] = 4;
  expect(refused(create)?.message).toContain("value.misc4.prog_sample_field_id_5 = 4");
  value[367] = 0;
  value[331] = 1;
  expect(refused(create)?.message).toContain("value.misc4.prog_sample_field_value_1 = 1");
});

test("matchParameters writes the ids", async () => {
  const { device, root, queue } = await openBench(SAMPLES);
  const match = dv.matchParameters({ "misc4.prog_sample_field_value_7": 0x01020304 });
  expect(match.match_criteria_enable).toBe(0x20);
  expect([...match.mask.match_buf.subarray(376, 384)]).toEqual([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 7]);
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match.match_criteria_enable, match.mask);
  dv.mlx5dv_dr_rule_create(matcher, match.value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  expect(device.receive(1, datagram()).verdict).toBe("deliver");
});

describe("refusals", () => {
  test("of masks", async () => {
    const { root } = await openBench(SAMPLES);
    const create = (...bytes: number[]) => {
      const mask = new Uint8Array(384);
      mask.set(bytes, 320);
      return refused(() => dv.mlx5dv_dr_matcher_create(root, 0, 0x20, mask));
    };
    expect(create(1, 0, 0, 0, 0, 0, 0, 8)?.message).toContain("mask.misc4.prog_sample_field_id_0 = 8");
    expect(create(1, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 2)?.message).toContain("prog_sample_field_id_1 = 2");
    expect(create(1, 0, 0, 0, 0, 0, 0, 3)).toMatchObject({ code: "EOPNOTSUPP", reason: "unsupported" });
    expect(create(1, 0, 0, 0, 0, 0, 0, 3)?.message).toContain("samples: [{ id: 3, ... }]");
    // An id without a mask is ignored.
    expect(create(0, 0, 0, 0, 0, 0, 0, 9)).toBeUndefined();
  });

  test("of rules and of Geneve's option, where the device declares none", async () => {
    const { root } = await openBench();
    const open = Matcher.named(root, 0, undefined, "open");
    for (const [name, what] of [
      ["misc3.geneve_tlv_option_0_data", "geneve_tlv_option_0_data"],
      ["misc.geneve_tlv_option_0_exist", "geneve_tlv_option_0_exist"],
      ["misc4.prog_sample_field_value_1", "prog_sample_field_value_1"],
    ]) {
      const refusal = refused(() => Rule.named(open, { [name!]: 1 }, []));
      expect(refusal?.code).toBe("EOPNOTSUPP");
      expect(refusal?.message).toContain(what);
    }
  });

  test.each([
    [{ samples: [{ id: 8, header: "udp", offset: 0 }] }, "parser.samples[0].id = 8"],
    [{ samples: [{ id: 1, header: "upd", offset: 0 }] }, 'did you mean "udp"'],
    [{ samples: [{ id: 1, header: "none", offset: 0 }] }, "parser.samples[0].header"],
    [{ samples: [{ id: 1, header: "udp", offset: 65536 }] }, "parser.samples[0].offset = 65536"],
    [{ samples: [{ id: 1, header: "udp", offset: -1 }] }, "parser.samples[0].offset = -1"],
    [{ samples: [{ id: 1, header: "udp", offset: 0, port: 65536 }] }, "parser.samples[0].port"],
    [{ samples: [{ id: 1, header: "udp", offset: 0, level: "middle" }] }, "parser.samples[0].level"],
    [{ samples: [1, 1].map((id) => ({ id, header: "udp", offset: 0 })) }, "parser.samples[1].id = 1"],
    [{ samples: {} }, "parser.samples must be an array, not Object"],
    [{ samples: [null] }, "parser.samples[0] must be an object, not null"],
    [{ geneveOption0: 5 }, "parser.geneveOption0 must be an object, not number"],
    [5, "parser must be an object, not number"],
    [{ geneveOption0: { class: 65536, type: 0 } }, "parser.geneveOption0.class"],
    [{ geneveOption0: { class: 0, type: 256 } }, "parser.geneveOption0.type"],
    [{ vxlanPorts: 4789 }, "parser.vxlanPorts must be an array, not number"],
    [{ vxlanPorts: ["4789"] }, "parser.vxlanPorts[0] must be a number, not string"],
    [
      { vxlanPorts: [4789, 65536] },
      "parser.vxlanPorts[1] = 65536: outside the range that the field can hold (EINVAL); 0 to 65535",
    ],
    [{ vxlanPorts: [0] }, "parser.vxlanPorts[0] = 0: outside the range that the field can hold (EINVAL); 1 to 65535"],
    [
      { vxlanPorts: [8472, 8472] },
      "parser.vxlanPorts[1] = 8472: outside the range that the field can hold (EINVAL); each port is registered once",
    ],
    [
      { vxlanPorts: [1, 2, 3, 4, 5] },
      "parser.vxlanPorts[4] = 5: outside the range that the field can hold (EINVAL); a device has 4 VXLAN ports at most",
    ],
    [
      { vxlanPorts: [4790] },
      "parser.vxlanPorts[0] = 4790: outside the range that the field can hold (EINVAL); port 4790 is that of VXLAN-GPE",
    ],
    [{ vxlanPorts: [6081] }, "port 6081 is that of Geneve"],
    [{ vxlanPorts: [2152] }, "port 2152 is that of GTP-U"],
  ])("of declarations: %j", async (parser, message) => {
    const refusal = await createDevice({ parser: parser as DeviceOptions["parser"] & object }).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    expect(refusal?.message).toContain(message);
  });
});

test("Geneve's option 0 is the declared one, all bits of its type", async () => {
  const { device, root, queue } = await openBench({ parser: { geneveOption0: { class: 0x0102, type: 0x80 } } });
  const match = dv.matchParameters({ "misc3.geneve_tlv_option_0_data": "0xcafe0000/0xffff0000" });
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match.match_criteria_enable, match.mask);
  dv.mlx5dv_dr_rule_create(matcher, match.value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  const frame = (type: number): Uint8Array => {
    const bytes = ipv4Frame({ protocol: 17, dport: 6081 });
    // An option of another class without data, then one of class 0x0102 with four bytes.
    bytes.set([0x03, 0, 0, 0, 0, 0, 1, 0, 0x01, 0x03, 0x80, 0, 0x01, 0x02, type, 1, 0xca, 0xfe, 0xba, 0xbe], 42);
    return bytes;
  };
  expect(device.receive(1, frame(0x80)).verdict).toBe("deliver");
  expect(device.receive(1, frame(0x00)).verdict).toBe("miss");
  expect(device.parseBatch([frame(0x80)])[0]!.fields).toMatchObject({
    "misc.geneve_tlv_option_0_exist": 1,
    "misc3.geneve_tlv_option_0_data": 0xcafebabe,
  });
});

describe("VXLAN is read at the ports of the device", () => {
  const vni = (device: Device, dport: number): unknown => {
    const bytes = ipv4Frame({ protocol: 17, dport });
    bytes.set([0x08, 0, 0, 0, 0, 0, 77, 0], 42);
    return device.parseBatch([bytes])[0]!.fields["misc.vxlan_vni"];
  };

  test("4789, unless it declares others", async () => {
    const device = await createDevice();
    expect([4789, 8472].map((port) => vni(device, port))).toEqual([77, undefined]);
    expect(device.parser.vxlanPorts).toEqual([4789]);
  });

  test("the declared ones and no other", async () => {
    const device = await createDevice({ parser: { vxlanPorts: [8472, 1, 65535, 48879] } });
    const read = [8472, 1, 65535, 48879, 4789, 2, 0].map((port) => vni(device, port));
    expect(read).toEqual([77, 77, 77, 77, undefined, undefined, undefined]);
    const { device: copy } = await cloneDevice(device);
    expect([8472, 4789].map((port) => vni(copy, port))).toEqual([77, undefined]);
    const none = await createDevice({ parser: { vxlanPorts: [] } });
    expect(vni(none, 4789)).toBeUndefined();
  });
});
