// Random ESP actions, and frames for them: plain frames to encrypt, and received ESP frames, some
// of them broken.

import { type Association, type EspSettings, type KeyMaterial, sealFully, sealedData, trailed } from "../esp/esp.js";
import { type Encapsulation, outerHeaders, udpHeader } from "../esp/chain.js";
import { ESP, UDP, insertion, outerOf, setLength, setProtocol } from "../esp/packet.js";
import { type GeneratedFrame, randomFrame, randomFrameOf } from "./frame.js";
import { joined } from "../act/modifyHeader.js";
import { type Random } from "./random.js";
import { type Frame } from "../act/rewrite.js";

const bytes = (random: Random, length: number): Uint8Array => Uint8Array.from(random.bytes(length));

export function randomKeymat(random: Random): KeyMaterial {
  return {
    key: bytes(random, random.pick([16, 24, 32])),
    salt: bytes(random, 4),
    iv: random.chance(0.9) ? random.bits(60) : 2n ** 64n - BigInt(random.between(1, 6)),
    icvLength: random.pick([8, 12, 16]),
  };
}

export function randomEncapsulation(random: Random, transport: boolean): Encapsulation[] {
  const some = <T>(value: T): T | undefined => (random.chance(0.5) ? value : undefined);
  const udp: Encapsulation = {
    type: "udp",
    src_port: some(random.below(65536)) ?? 0,
    dst_port: some(random.below(65536)) ?? 0,
  };
  const behind = random.chance(0.4) ? [udp] : [];
  if (transport) return behind;
  const type = random.pick(["ipv4", "ipv4_ext", "ipv6"] as const);
  const length = type === "ipv6" ? 16 : 4;
  const ip: Encapsulation = { type, src_ip: bytes(random, length), dst_ip: bytes(random, length) };
  if (type === "ipv4_ext")
    Object.assign(ip, { tos: some(random.below(256)) ?? 0, ttl: some(9) ?? 0, flags: some(2) ?? 0 });
  if (type === "ipv6") {
    const flow_label = random.below(2 ** 20);
    Object.assign(ip, { traffic_class: some(random.below(256)) ?? 0, hop_limit: some(9) ?? 0, flow_label });
  }
  const eth: Encapsulation = {
    type: "eth",
    dst_mac: bytes(random, 6),
    src_mac: bytes(random, 6),
    vlan_tag: some(random.below(65536)) ?? 0,
  };
  return [...(random.chance(0.3) ? [eth] : []), ip, ...behind];
}

/** Half of the time near the limits of the numbers. */
function randomNumber(random: Random): Pick<EspSettings, "seq" | "esn"> {
  const esn = random.pick([null, null, null, 0, 1, random.word(), 2 ** 32 - 1]);
  const seq = random.pick([
    0,
    1,
    random.word(),
    2 ** 32 - random.between(1, 6),
    2 ** 32 - random.between(1, 40),
    2 ** 31,
  ]);
  return { seq, esn };
}

export function randomFull(random: Random, encrypt: boolean): EspSettings {
  const transport = random.chance(0.4);
  return {
    offload: "full",
    encrypt,
    transport,
    spi: random.pick([1, 256, random.word()]),
    ...randomNumber(random),
    newWindow: false,
    tfcPad: random.chance(0.7) ? 0 : random.pick([1, 13, 200]),
    hardLimit: random.chance(0.8) ? 0n : BigInt(random.between(1, 20)),
    keymat: randomKeymat(random),
    replay: encrypt || random.chance(0.3) ? null : random.pick([1, 2, 31, 32, 63, 64, 65, 100, 1024, 65536]),
    encap: randomEncapsulation(random, transport),
    metadata: false,
  };
}

export function randomInline(random: Random, encrypt: boolean): EspSettings {
  const esn = random.pick([null, 0, random.word(), 2 ** 32 - 1]);
  return {
    ...randomFull(random, encrypt),
    offload: "inline",
    encap: [],
    replay: null,
    esn,
    newWindow: esn !== null && random.chance(0.5),
    metadata: random.chance(0.4),
  };
}

const CARRIED = ["tcp", "udp", "udp", "icmp", "icmpv6", "sctp", "esp", "ip_in_ip", "gre"] as const;

/** Ethernet, at least 14 bytes: a frame that can be sent. */
export function randomClear(random: Random): GeneratedFrame {
  for (;;) {
    const frame = random.chance(0.9) ? randomFrameOf(random, random.pick(CARRIED)) : randomFrame(random);
    if (frame.linkType !== 1 || frame.bytes.length < 14) continue;
    const trailer = random.chance(0.1) ? random.bytes(random.between(1, 20)) : [];
    const padded = joined(frame.bytes, trailer);
    return { ...frame, bytes: padded, wireLength: padded.length };
  }
}

/** A trailer, correct or not. */
function randomTrailer(random: Random, payload: Uint8Array, nextHeader: number): Uint8Array {
  const more = Array.from({ length: 4 * random.below(20) }, (_, i) => i + 1);
  const kind = random.below(16);
  if (kind === 0) return joined(payload, [9, 2, 1, nextHeader]);
  if (kind === 1) return joined(payload, [255, nextHeader]);
  if (kind === 2) return trailed(payload, 59);
  if (kind === 3) return trailed(payload, random.pick([0, 4, 6, 17, 41, 50]));
  if (kind === 4) return trailed(payload.subarray(0, random.below(payload.length + 1)), nextHeader);
  if (kind === 5) return joined(payload, more, [more.length, nextHeader]);
  return trailed(payload, nextHeader);
}

/**
 * A frame encrypted by an association, with a trailer that may be wrong; null if it has no suitable
 * packet.
 */
export function sealedFrame(random: Random, sa: Association, clear: Frame): Frame | null {
  if (random.chance(0.6)) {
    const made = sealFully({ ...sa, hardLimit: 0n }, clear);
    return typeof made === "string" ? null : made;
  }
  const outer = outerOf(clear, true);
  if (!outer?.whole || outer.fragment) return null;
  const place = sa.transport
    ? insertion(clear.bytes, outer)
    : { at: outer.at, protocol: outer.version === 4 ? 4 : 41, said: 0 };
  const payload = clear.bytes.subarray(place.at, outer.end);
  const esp = sealedData(sa, randomTrailer(random, payload, place.protocol));
  if (!sa.transport) {
    const made = outerHeaders(sa.encap, esp.length, {
      sequence: sa.next,
      traffic: random.below(256),
      dontFragment: true,
    });
    if (!made) return null;
    const type = made.version === 4 ? [0x08, 0x00] : [0x86, 0xdd];
    return { ...clear, bytes: joined(clear.bytes.subarray(0, 12), type, made.headers, esp), linkType: 1 };
  }
  const [udp] = sa.encap;
  const made = joined(clear.bytes.subarray(0, place.at), udp ? udpHeader(udp, esp.length) : [], esp);
  if (!setLength(made, outer, made.length - outer.at)) return null;
  setProtocol(made, outer, place.said, udp ? UDP : ESP);
  return { ...clear, bytes: made };
}

/** The same packet after another link header, cut by the capture, or with one wrong bit. */
export function disturbed(random: Random, frame: Frame): Frame {
  let { bytes: all } = frame;
  const { linkType } = frame;
  const kind = random.below(14);
  if (kind === 0) {
    all = all.slice();
    const at = random.below(all.length);
    all[at] = (all[at] ?? 0) ^ (1 << random.below(8));
  }
  if (kind === 1) all = all.slice(0, random.below(all.length) + 1);
  if (kind === 2) all = joined(all, random.bytes(random.between(1, 30)));
  if (kind === 3) return { ...frame, wireLength: all.length + random.between(1, 30) };
  if (kind === 4 && linkType === 1) return otherLink(random, frame);
  if (kind === 5 && linkType === 1) {
    const tags = Array.from({ length: random.between(1, 3) }, () => [0x81, 0x00, 0x00, random.below(256)]).flat();
    all = joined(all.subarray(0, 12), tags, all.subarray(12));
  }
  if (kind === 6 && linkType === 1 && all[12] === 8 && all[13] === 0 && all.length > 20) {
    // More fragments.
    all = all.slice();
    all[20] = (all[20] ?? 0) | 0x20;
  }
  const wireLength = kind === 1 ? Math.max(frame.wireLength, all.length) : all.length;
  return { ...frame, bytes: all, wireLength };
}

/** Replaces Ethernet without tags by another link layer. */
function otherLink(random: Random, frame: Frame): Frame {
  const { bytes: all } = frame;
  const type = all.subarray(12, 14);
  const v6 = type[0] === 0x86;
  const tagged = random.chance(0.3);
  const tag = [0x81, 0x00, 0x00, 0x07];
  const cooked = joined(random.bytes(14), tagged ? tag : [], type);
  const cooked2 = joined(tagged ? tag.slice(0, 2) : type, random.bytes(18), tagged ? joined(tag.slice(2), type) : []);
  const links: [number, Uint8Array][] = [
    [101, new Uint8Array(0)],
    [v6 ? 229 : 228, new Uint8Array(0)],
    [108, Uint8Array.from([0, 0, 0, v6 ? 30 : 2])],
    [113, cooked],
    [276, cooked2],
  ];
  const [linkType, link] = random.pick(links);
  const made = joined(link, all.subarray(14));
  return { ...frame, bytes: made, wireLength: made.length, linkType };
}
