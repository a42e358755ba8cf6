/** `vxlan_opts`: the group of a VXLAN header (draft-smith-vxlan-group-policy), which the mlx5 driver matches by words of the header. */
import { describe, expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { imported, Switch } from "./support/steer.js";

const LINK = "ip link add vx type vxlan dstport 4789 external gbp";
const OUT = "action tunnel_key unset action mirred egress redirect dev eth0_0";
const filter = (keys: string): string =>
  `${LINK}\ntc filter add dev vx ingress protocol ip prio 1 flower enc_key_id 42 ${keys} enc_dst_port 4789 ${OUT}`;

const ETH = { header: "ethernet" } as const;
const IP = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" } as const;
const INNER = [ETH, IP, { header: "udp", destination_port: 53 }] as const;
const tunneled = (vxlan: object): Uint8Array =>
  buildFrame([ETH, IP, { header: "udp", destination_port: 4789 }, { header: "vxlan", vni: 42, ...vxlan }, ...INNER]);

describe("a match", () => {
  const grouped = tunneled({ flags: 0x88, reserved: 0xfff });

  test.each<[string, Uint8Array, boolean]>([
    ["vxlan_opts 0xfff", grouped, true],
    ["vxlan_opts 4095/65535", grouped, true],
    ["vxlan_opts 0xf00/0xf00", grouped, true],
    ["vxlan_opts 0xffe", grouped, false],
    ["vxlan_opts 0x80fff/0xfffff", grouped, false],
    ["vxlan_opts 0x80fff/0xfffff", tunneled({ flags: 0x88, reserved: 0x80fff }), true],
    ["vxlan_opts 0xfff", tunneled({ flags: 0x88, reserved: 0xfff, vni: 43 }), false],
    ["vxlan_opts 0", tunneled({}), true],
  ])("%s", async (keys, frame, isHit) => {
    const device = await Switch.of(imported(filter(keys), { map: { eth0_0: "vf1" } }));
    expect(device.names(0, frame)).toEqual(isHit ? ["qp:vf1"] : ["qp:pf"]);
  });

  test("reads what tc -j prints as the command", () => {
    const keys = { eth_type: "ipv4", enc_key_id: 42, enc_dst_port: 4789 };
    const options = { vxlan_opt_key: [{ gbp: 4095 }], vxlan_opt_mask: [{ gbp: 65535 }] };
    const actions = [{ order: 1, kind: "gact", control_action: { type: "drop" } }];
    const listed = {
      protocol: "ip",
      pref: 1,
      kind: "flower",
      chain: 0,
      options: { keys: { ...keys, ...options }, actions },
    };
    const text = `${LINK}\n# tc -j filter show dev vx ingress\n${JSON.stringify([listed])}`;
    const command = filter("vxlan_opts 4095/65535").replace(OUT, "action drop");
    const [shown, made] = [text, command].map((one) =>
      imported(one).rules?.find(({ actions }) => actions?.[0] === "drop"),
    );
    expect(shown?.match).toEqual(made?.match);
    expect(shown?.match).toMatchObject({
      "misc5.tunnel_header_0": "4095/0xffff",
      "misc5.tunnel_header_1": "10752/0xffffff00",
    });
  });

  test("has the group of VXLAN only", () => {
    const text = filter("vxlan_opts 5").replace("type vxlan dstport 4789 external gbp", "type geneve external");
    const { findings } = importRules(text, { format: "tc", lenient: true });
    expect(findings.map(({ text: what, reason }) => `${what}: ${reason}`)).toContain("5: only VXLAN has a group");
  });
});

describe("an encapsulation", () => {
  const encap = (group: string): string =>
    `${LINK}\ntc filter add dev eth0_0 ingress protocol ip prio 1 flower action tunnel_key set src_ip 1.1.1.1 dst_ip 1.1.1.2 id 7 dst_port 4789 ${group} action mirred egress redirect dev vx`;
  const headers = (text: string): unknown => {
    const rule = imported(text, { map: { eth0_0: "vf1" } }).rules?.find(({ table }) => table === "eth0_0");
    return JSON.stringify(rule?.actions);
  };

  test("has the group and its flags", () => {
    expect(headers(encap("vxlan_opts 0x48fff1"))).toContain(
      '{"header":"vxlan","flags":136,"reserved":4784113,"vni":7}',
    );
  });

  test("has none by a group of 0, and without one", () => {
    for (const group of ["vxlan_opts 0", ""]) expect(headers(encap(group))).toContain('{"header":"vxlan","vni":7}');
  });

  test("says which bits the kernel clears", () => {
    const { findings } = importRules(encap("vxlan_opts 0x80000001"), { format: "tc", map: { eth0_0: "vf1" } });
    expect(findings).toContainEqual(
      expect.objectContaining({
        severity: "assumed",
        text: "0x80000001",
        reason: "the kernel keeps the bits 0x48ffff of a group: 0x80000000 is lost, 0x1 is left",
      }),
    );
  });
});
