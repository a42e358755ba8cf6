/** Checksums that the device computes: they are right, and computed only where possible. */
import { beforeAll, expect, test } from "vitest";
import { createDevice, type Device } from "../../../src/index.js";
import { withChecksums } from "../../../src/model/queuePair/checksumOffload.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";

let device: Device;
beforeAll(async () => (device = await createDevice()));

const IP4: Layer = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" };
const IP6: Layer = { header: "ipv6", source: "fe80::1", destination: "fe80::2" };
const VLAN: Layer = { header: "vlan", vid: 5 };
const DATA = Uint8Array.of(1, 2, 3, 4, 5);

/** The frame with right checksums, and with `wrong` in place of those that the device computes. */
function pair(layers: Layer[], wrong: number): [right: Uint8Array, given: Uint8Array] {
  const made = ["ipv4", "tcp", "udp"];
  let tunnel = false;
  const damaged = layers.map((layer): Layer => {
    if (layer instanceof Uint8Array || tunnel) return layer;
    tunnel = layer.header === "vxlan";
    return made.includes(layer.header) ? ({ ...layer, checksum: wrong } as Layer) : layer;
  });
  return [buildFrame(layers), buildFrame(damaged)];
}

test.each<[string, Layer[]]>([
  ["TCP", [{ header: "ethernet" }, IP4, { header: "tcp" }, DATA]],
  ["UDP", [{ header: "ethernet" }, IP4, { header: "udp" }, DATA]],
  ["TCP over IPv6", [{ header: "ethernet" }, IP6, { header: "tcp" }, DATA]],
  ["UDP over IPv6", [{ header: "ethernet" }, IP6, { header: "udp" }, DATA]],
  ["behind VLAN tags", [{ header: "ethernet" }, VLAN, VLAN, IP4, { header: "udp" }]],
  ["ICMP", [{ header: "ethernet" }, IP4, { header: "icmp", type: 8 }, DATA]],
  [
    "behind options",
    [{ header: "ethernet" }, { ...IP4, options: [{ option: "router_alert", value: 0 }] }, { header: "tcp" }],
  ],
])("%s", (_, layers) => {
  for (const wrong of [0, 0x1234, 0xffff]) {
    const [right, given] = pair(layers, wrong);
    const before = given.slice();
    expect(withChecksums(device, given)).toEqual(right);
    expect(given).toEqual(before);
  }
});

test("the outer headers of a tunnel, and not the inner ones", () => {
  const inner: Layer[] = [{ header: "ethernet" }, { ...IP4, checksum: 0x99 }, { header: "udp", checksum: 0x98 }];
  const layers: Layer[] = [{ header: "ethernet" }, IP4, { header: "udp" }, { header: "vxlan", vni: 5 }, ...inner];
  for (const wrong of [0, 0x1234]) {
    const [right, given] = pair(layers, wrong);
    expect(withChecksums(device, given)).toEqual(right);
  }
});

test("not of a fragment's segment, nor of one that is cut", () => {
  const fragment = { ...IP4, flags: 1, checksum: 7 } as Layer;
  for (const checksum of [0, 0x1234]) {
    const given = buildFrame([{ header: "ethernet" }, fragment, { header: "udp", checksum }, DATA]);
    const sent = withChecksums(device, given);
    expect(sent.subarray(34)).toEqual(given.subarray(34));
    expect(sent.subarray(24, 26)).not.toEqual(given.subarray(24, 26));
    const whole = buildFrame([{ header: "ethernet" }, IP4, { header: "udp", checksum }, DATA]);
    const cut = whole.subarray(0, -1);
    expect(withChecksums(device, cut)).toEqual(cut);
  }
});

test("anything else stays as it is", () => {
  for (const frame of [buildFrame([{ header: "ethernet" }, { header: "arp" }]), new Uint8Array(14), new Uint8Array()]) {
    expect(withChecksums(device, frame)).toEqual(frame);
  }
});
