// Random frames, link layers: pseudo headers, Ethernet and its tags, MPLS entries, MACsec, NSH, ARP and
// unparsed protocols.

import { BOGUS, type Draw, be, some } from "./draw.js";
import { type Layer3, ip, ipv4, ipv6 } from "./ip.js";
import { type Random } from "./random.js";

const AF_IPV6 = [10, 24, 28, 30];

/** A complete frame of a link type. */
export function linkLayer(draw: Draw, linkType: number): number[] {
  const { random } = draw;
  if (linkType === 1) return ethernet(draw);
  const packet = linkType === 228 ? ipv4(draw) : linkType === 229 ? ipv6(draw) : layer3(draw);
  const { ethertype, bytes } = packet;
  switch (linkType) {
    case 0:
    case 108: {
      const family = ethertype === 0x0800 ? 2 : ethertype === 0x86dd ? random.pick(AF_IPV6) : random.below(40);
      const order = be(family, 4);
      return [...(linkType === 0 && random.chance(0.5) ? order.reverse() : order), ...bytes];
    }
    case 113: {
      const tags = vlanTags(random, ethertype);
      return [...random.bytes(14), ...tags, ...bytes];
    }
    case 276: {
      const [high = 0, low = 0, ...rest] = vlanTags(random, ethertype);
      return [high, low, ...be(0, 2), ...random.bytes(16), ...rest, ...bytes];
    }
    default:
      return bytes;
  }
}

/** The EtherType, or tags and the EtherType after them. */
function vlanTags(random: Random, ethertype: number): number[] {
  const count = random.pick([0, 0, 1, 2, 3]);
  const tags = Array.from({ length: count }, () => [
    ...be(random.pick([0x8100, 0x8100, 0x88a8]), 2),
    ...some(random, [1, 2, 0x6002, 0x1fff], 2),
  ]);
  return [...tags.flat(), ...be(ethertype, 2)];
}

const MACS = [0x661122334455n, 0x020000000001n, 0xffffffffffffn];

export function ethernet(draw: Draw): number[] {
  const { random } = draw;
  const { ethertype, bytes } = layer3(draw);
  // Padding after the IP packet, as switches add to short frames.
  const padding = random.chance(0.2) ? random.bytes(random.between(1, 30)) : [];
  const type = vlanTags(random, random.chance(BOGUS) ? random.pick([0x0800, 0x86dd, 0x0026, 0x8847]) : ethertype);
  const metadata = random.chance(0.03) ? [0x8c, 0xe4, ...random.bytes(6)] : [];
  return [...some(random, MACS, 6), ...some(random, MACS, 6), ...metadata, ...type, ...bytes, ...padding];
}

function layer3(draw: Draw): Layer3 {
  const { random, want } = draw;
  if (want === "arp") return arp(random);
  if (want === "macsec") return macsec(random);
  if (want === "nsh") return { ethertype: 0x894f, bytes: nsh(random) };
  if (want === "mpls") return overMpls(draw);
  const roll = want === null ? random.below(40) : 0;
  if (roll < (draw.depth === 0 ? 32 : 28)) return ip(draw);
  if (roll < 35) return overMpls(draw);
  if (roll < 37) return macsec(random);
  if (roll < 38) return arp(random);
  if (roll < 39) return { ethertype: 0x894f, bytes: nsh(random) };
  // PTP, TPIDs that are not tags, 802.3 lengths, RoCE v1.
  const ethertype = random.pick([0x88f7, 0x9100, 0x9200, 0x0026, 0x05ff, 0x8915]);
  return { ethertype, bytes: random.bytes(random.below(60)) };
}

function arp(random: Random): Layer3 {
  const lengths = random.chance(0.8) ? [6, 4] : random.bytes(2);
  return { ethertype: 0x0806, bytes: [0, 1, 8, 0, ...lengths, ...random.bytes(random.pick([22, 22, 30, 10]))] };
}

/** TCI and AN, short length, packet number, and the SCI if the SC bit is set. */
function macsec(random: Random): Layer3 {
  const explicit = random.chance(0.5);
  const tci = (random.below(256) & ~0x20) | (explicit ? 0x20 : 0);
  const sci = explicit ? random.bytes(8) : [];
  return { ethertype: 0x88e5, bytes: [tci, ...random.bytes(5), ...sci, ...random.bytes(random.below(40))] };
}

/** Base header, service path, context headers, and something after them. */
export function nsh(random: Random): number[] {
  const length = random.chance(0.9) ? random.pick([2, 6, 6, random.between(2, 20)]) : random.below(64);
  const first = (random.below(2) << 13) | (random.below(64) << 6) | length;
  const context = random.bytes(Math.max(0, 4 * length - 8));
  return [...be(first, 2), ...random.bytes(6), ...context, ...random.bytes(random.below(40))];
}

function overMpls(draw: Draw): Layer3 {
  return { ethertype: draw.random.pick([0x8847, 0x8847, 0x8848]), bytes: mpls(draw) };
}

/** One to five entries, followed by IP, a control word or nothing. */
export function mpls(draw: Draw): number[] {
  const { random } = draw;
  const count = random.between(1, 5);
  const entries = Array.from({ length: count }, (_, i) => {
    const bottom = random.chance(BOGUS) ? random.below(2) : Number(i === count - 1);
    const label = random.chance(0.5) ? random.pick([0, 3, 16, 1000]) : random.below(1 << 20);
    return be(
      label * 4096 + ((random.below(8) << 9) | (bottom << 8) | random.pick([1, 64, 255, random.below(256)])),
      4,
    );
  });
  const roll = random.below(20);
  const behind = roll < 17 ? ip(draw).bytes : roll < 19 ? [0, 0, ...random.bytes(20)] : [];
  return [...entries.flat(), ...behind];
}
