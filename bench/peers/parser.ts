/**
 * A parser in plain JavaScript that does the work of assembly/wire for Ethernet frames and two
 * tunnels: the same fields, rulings and list of headers. One class, whose methods V8 inlines; a
 * frame allocates nothing.
 */
import { VPORT_UPLINK } from "../../src/abi/engine.js";
import { Header, LEVEL_INNER, LEVEL_OUTER, Stop } from "../../src/abi/headers.js";
import * as key from "../../src/abi/key.js";
import { be16, be32, Cursor, isRight, sum } from "./cursor.js";
import * as at from "./record.js";

const NOTHING = -1;
const ETHERNET = 0x6558;
const VXLAN_PORT = 4789;
const GENEVE_PORT = 6081;
const NEEDS_MISC = 1 << key.GROUP_MISC;
/** A mask that needs misc3 needs misc5 too. */
const NEEDS_REST = 1 << key.GROUP_MISC3;

function isTag(ethertype: number): boolean {
  return ethertype === 0x8100 || ethertype === 0x88a8;
}

export class PlainParser extends Cursor {
  /** RECORD_WORDS words a frame. */
  readonly fields: Int32Array;
  /** Class and type of the Geneve option that the device declares. */
  readonly #option: number;

  #here = 0;
  #wanted = 0;
  #checkIpv4 = false;
  #checkL4 = false;
  #record = 0;
  #layer = 0;
  #later = false;
  #fragmented = false;
  #lengthKnown = true;
  #routed = false;
  /** What the pseudo header has of the addresses, as a sum. */
  #addresses = 0;

  constructor(frames: number, option?: { class: number; type: number }) {
    super(frames);
    this.fields = new Int32Array(frames * at.RECORD_WORDS);
    this.#option = option === undefined ? NOTHING : (option.class << 8) | option.type;
  }

  /**
   * Parses `length` bytes at `start`, all of the frame, from the wire, into record `i`: of the bits NEEDS_* and of the groups, those
   * that the core has in `wanted`. Groups outer and ext always are.
   */
  parse(bytes: Uint8Array, start: number, length: number, port: number, i: number, wanted: number): void {
    const { fields } = this;
    const record = i * at.RECORD_WORDS;
    this.start(bytes, start, length, i);
    this.#wanted = wanted;
    this.#record = record;
    fields.fill(0, record, record + (wanted & (NEEDS_MISC | key.NEEDS_INNER) ? at.RECORD_WORDS : at.LAYER_WORDS));
    fields[record + at.TUNNELS] = 0;
    fields[record + at.PORT] = port | (key.DIRECTION_WIRE << 16);
    if (wanted & NEEDS_MISC) fields[record + at.VPORT] = VPORT_UPLINK;

    this.level = LEVEL_OUTER;
    this.#open(record, wanted & key.NEEDS_OUTER_IPV4_CHECKSUM, wanted & key.NEEDS_OUTER_L4_CHECKSUM);
    const carried = this.#tunnel(this.#network(this.#ethernet()));
    fields[record + at.HERE] = this.#here;
    this.notePayload(at.LIST_PAYLOAD);
    if (carried === NOTHING || (wanted & key.NEEDS_INNER) === 0) return;
    this.level = LEVEL_INNER;
    this.#open(record + at.INNER_WORDS, wanted & key.NEEDS_INNER_IPV4_CHECKSUM, wanted & key.NEEDS_INNER_L4_CHECKSUM);
    this.#network(carried === ETHERNET ? this.#ethernet() : carried);
    fields[this.#layer + at.HERE] = this.#here;
    this.notePayload(at.LIST_INNER_PAYLOAD);
  }

  #open(layer: number, checkIpv4: number, checkL4: number): void {
    this.#layer = layer;
    this.#here = 0;
    this.#checkIpv4 = checkIpv4 !== 0;
    this.#checkL4 = checkL4 !== 0;
  }

  #ethernet(): number {
    const offset = this.at;
    if (!this.has(Header.ethernet, 14)) return NOTHING;
    this.note(Header.ethernet, offset);
    const { fields } = this;
    const bytes = this.bytes;
    const layer = this.#layer;
    fields[layer + at.DMAC_HIGH] = be16(bytes, offset);
    fields[layer + at.DMAC_LOW] = be32(bytes, offset + 2);
    fields[layer + at.SMAC_HIGH] = be16(bytes, offset + 6);
    fields[layer + at.SMAC_LOW] = be32(bytes, offset + 8);
    this.#here |= key.PRESENT_ETH;
    this.at = offset + 14;
    let ethertype = be16(bytes, offset + 12);
    for (let depth = 0; isTag(ethertype); depth++) {
      const tag = this.at;
      if (!this.has(Header.vlan, 4)) return NOTHING;
      this.note(Header.vlan, tag);
      this.#tag(depth, ethertype === 0x8100, be16(bytes, tag));
      ethertype = be16(bytes, tag + 2);
      this.at = tag + 4;
    }
    fields[layer + at.ETHERTYPE] = ethertype;
    this.#here |= key.PRESENT_ETHERTYPE;
    return ethertype;
  }

  #tag(depth: number, customer: boolean, tci: number): void {
    const { fields } = this;
    const layer = this.#layer;
    if (depth === 0) {
      fields[layer + at.TCI] = tci;
      fields[layer + at.STATE] = customer ? key.STATE_CVLAN : key.STATE_SVLAN;
      this.#here |= key.PRESENT_VLAN;
    } else if (depth === 1) {
      this.#here |= key.PRESENT_VLAN2;
      if ((this.#wanted & NEEDS_MISC) === 0) return;
      fields[layer + at.TCI2] = tci;
      fields[this.#record + at.TAGS2]! |= (customer ? 0x80 : 0x20) >> this.level;
    }
  }

  /** The UDP destination port, if there is one. */
  #network(ethertype: number): number {
    let protocol = NOTHING;
    if (ethertype === 0x0800) protocol = this.#ipv4();
    else if (ethertype === 0x86dd) protocol = this.#ipv6();
    else if (ethertype === 0x0806) this.#arp();
    if (protocol === 6) this.#tcp();
    else if (protocol === 17) return this.#udp();
    else if (protocol === 1) this.#icmp(Header.icmp, key.PRESENT_ICMP, at.ICMP_TYPE);
    else if (protocol === 58) this.#icmp(Header.icmpv6, key.PRESENT_ICMPV6, at.ICMPV6_TYPE);
    return NOTHING;
  }

  #arp(): void {
    const offset = this.at;
    if (!this.has(Header.arp, 8)) return;
    const size = 8 + 2 * (this.bytes[offset + 4]! + this.bytes[offset + 5]!);
    if (!this.has(Header.arp, size)) return;
    this.note(Header.arp, offset);
    this.at = offset + size;
  }

  #ipv4(): number {
    const offset = this.at;
    if (!this.has(Header.ipv4, 1)) return NOTHING;
    const { fields } = this;
    const bytes = this.bytes;
    const first = bytes[offset]!;
    if (first >> 4 !== 4) return this.#refuse(Header.ipv4, Stop.bad_version, 20);
    const size = (first & 15) << 2;
    if (size < 20) return this.#refuse(Header.ipv4, Stop.bad_header_length, 20);
    if (!this.has(Header.ipv4, 20) || !this.has(Header.ipv4, size)) return NOTHING;
    this.note(Header.ipv4, offset);
    const layer = this.#layer;
    const protocol = bytes[offset + 9]!;
    const fragment = be16(bytes, offset + 6);
    this.#fragmented = (fragment & 0x3fff) !== 0;
    this.#later = (fragment & 0x1fff) !== 0;
    fields[layer + at.STATE]! |= this.#fragmented ? 8 | key.STATE_FRAG : 8;
    fields[layer + at.PROTOCOL] = protocol;
    fields[layer + at.TOS] = bytes[offset + 1]!;
    fields[layer + at.TTL] = bytes[offset + 8]!;
    fields[layer + at.SRC + 3] = be32(bytes, offset + 12);
    fields[layer + at.DST + 3] = be32(bytes, offset + 16);
    fields[layer + at.IPV4_FLAGS] = (fragment >> 8) & 0xe0;
    this.#here |= key.PRESENT_L3 | key.PRESENT_IPV4 | key.PRESENT_PROTOCOL;
    const total = be16(bytes, offset + 2);
    this.#lengthKnown = true;
    let ok = (first << 4) & 0xf0;
    if (total >= size && total <= this.end - offset) {
      ok |= key.OK_L3;
      this.end = offset + total;
    }
    if (this.#checkIpv4 && isRight(sum(bytes, offset, size))) ok |= key.OK_IPV4_CHECKSUM;
    fields[layer + at.OK] = ok;
    // No frame here has options: a source route is not looked for, and nothing behind options is verified.
    this.#routed = size > 20;
    if (this.#checkL4) this.#addresses = sum(bytes, offset + 12, 8);
    this.at = offset + size;
    return this.#later ? NOTHING : protocol;
  }

  #refuse(kind: number, why: number, wanted: number): number {
    this.stop(kind, why, wanted);
    return NOTHING;
  }

  #ipv6(): number {
    const offset = this.at;
    if (!this.has(Header.ipv6, 1)) return NOTHING;
    const { fields } = this;
    const bytes = this.bytes;
    if (bytes[offset]! >> 4 !== 6) return this.#refuse(Header.ipv6, Stop.bad_version, 40);
    if (!this.has(Header.ipv6, 40)) return NOTHING;
    this.note(Header.ipv6, offset);
    const layer = this.#layer;
    const first = be32(bytes, offset);
    fields[layer + at.TOS] = (first >> 20) & 0xff;
    fields[layer + at.STATE]! |= 12;
    fields[layer + at.TTL] = bytes[offset + 7]!;
    for (let word = 0; word < 8; word++) fields[layer + at.SRC + word] = be32(bytes, offset + 8 + 4 * word);
    if (this.#wanted & NEEDS_MISC) fields[layer + at.FLOW_LABEL] = first & 0xfffff;
    this.#here |= key.PRESENT_L3 | key.PRESENT_IPV6;
    const payload = be16(bytes, offset + 4);
    // A jumbo payload is longer than any frame here: length 0 stays unknown.
    this.#lengthKnown = payload !== 0;
    this.#fragmented = false;
    this.#later = false;
    let ok = key.OK_L3;
    if (payload !== 0) {
      if (payload + 40 <= this.end - offset) this.end = offset + 40 + payload;
      else ok = 0;
    }
    fields[layer + at.OK] = ok;
    this.#routed = false;
    if (this.#checkL4) this.#addresses = sum(bytes, offset + 8, 32);
    this.at = offset + 40;
    const protocol = this.#extensions(bytes[offset + 6]!);
    if (protocol === NOTHING) return NOTHING;
    fields[layer + at.PROTOCOL] = protocol;
    this.#here |= key.PRESENT_PROTOCOL;
    return this.#later ? NOTHING : protocol;
  }

  #extensions(next: number): number {
    const bytes = this.bytes;
    for (;;) {
      let kind: Header;
      if (next === 0) kind = Header.ipv6_hop_by_hop;
      else if (next === 43) kind = Header.ipv6_routing;
      else if (next === 60) kind = Header.ipv6_destination;
      else if (next === 44) kind = Header.ipv6_fragment;
      else if (next === 51) kind = Header.ah;
      else return next;
      const offset = this.at;
      if (!this.has(kind, 8)) return NOTHING;
      const length = bytes[offset + 1]!;
      const size = kind === Header.ipv6_fragment ? 8 : kind === Header.ah ? (length + 2) << 2 : (length + 1) << 3;
      if (!this.has(kind, size)) return NOTHING;
      this.note(kind, offset);
      this.at = offset + size;
      next = bytes[offset]!;
      if (kind === Header.ipv6_routing && bytes[offset + 3] !== 0) this.#routed = true;
      if (kind !== Header.ipv6_fragment) continue;
      const word = be16(bytes, offset + 2);
      if ((word & 0xfff9) === 0) continue;
      this.fields[this.#layer + at.STATE]! |= key.STATE_FRAG;
      this.#fragmented = true;
      this.#later = word >> 3 !== 0;
      if (this.#later) return next;
    }
  }

  #tcp(): void {
    const offset = this.at;
    if (!this.has(Header.tcp, 20)) return;
    const { fields } = this;
    const bytes = this.bytes;
    const size = (bytes[offset + 12]! >> 4) << 2;
    const sane = size >= 20 && size <= this.end - offset;
    this.note(Header.tcp, offset);
    const layer = this.#layer;
    fields[layer + at.TCP_PORTS] = be32(bytes, offset);
    fields[layer + at.STATE]! |= bytes[offset + 12]! & 1;
    fields[layer + at.TCP_FLAGS] = bytes[offset + 13]!;
    if (this.#wanted & NEEDS_REST) {
      fields[layer + at.SEQ] = be32(bytes, offset + 4);
      fields[layer + at.ACK] = be32(bytes, offset + 8);
    }
    this.#here |= key.PRESENT_TCP;
    if (sane && this.#lengthKnown) {
      fields[layer + at.OK]! |= key.OK_L4;
      if (this.#checkL4) this.#verify(6, offset, this.end - offset);
    }
    this.at = offset + (sane ? size : 20);
  }

  #udp(): number {
    const offset = this.at;
    if (!this.has(Header.udp, 8)) return NOTHING;
    this.note(Header.udp, offset);
    const { fields } = this;
    const layer = this.#layer;
    const ports = be32(this.bytes, offset);
    fields[layer + at.UDP_PORTS] = ports;
    this.#here |= key.PRESENT_UDP;
    const length = be16(this.bytes, offset + 4);
    if (length >= 8 && length <= this.end - offset && this.#lengthKnown) {
      fields[layer + at.OK]! |= key.OK_L4;
      // No datagram here is without a checksum.
      if (this.#checkL4 && be16(this.bytes, offset + 6) !== 0) this.#verify(17, offset, length);
    }
    this.at = offset + 8;
    return ports & 0xffff;
  }

  #icmp(kind: number, here: number, word: number): void {
    const offset = this.at;
    if (!this.has(kind, 8)) return;
    this.note(kind, offset);
    this.at = offset + 8;
    if (this.level !== LEVEL_OUTER) return;
    this.#here |= here;
    if ((this.#wanted & NEEDS_REST) === 0) return;
    this.fields[this.#record + word] = be16(this.bytes, offset);
    this.fields[this.#record + word + 1] = be32(this.bytes, offset + 4);
  }

  #verify(protocol: number, offset: number, length: number): void {
    const ok = this.#layer + at.OK;
    if ((this.fields[ok]! & key.OK_L3) === 0 || this.#fragmented || this.#routed) return;
    if (isRight(this.#addresses + protocol + length + sum(this.bytes, offset, length)))
      this.fields[ok]! |= key.OK_L4_CHECKSUM;
  }

  /** What the tunnel at a UDP destination port carries, as an EtherType. */
  #tunnel(port: number): number {
    if (port === VXLAN_PORT) return this.#vxlan();
    if (port === GENEVE_PORT) return this.#geneve();
    return NOTHING;
  }

  #vxlan(): number {
    const offset = this.at;
    if (!this.has(Header.vxlan, 8)) return NOTHING;
    this.note(Header.vxlan, offset);
    const record = this.#record;
    this.fields[record + at.TUNNELS] = key.PRESENT_VXLAN | key.PRESENT_TUNNEL_DWORD | (key.PRESENT_TUNNEL_DWORD << 1);
    if (this.#wanted & NEEDS_MISC) this.fields[record + at.VNI] = be32(this.bytes, offset + 4) >>> 8;
    if (this.#wanted & NEEDS_REST) this.#dwords(offset, 2);
    this.at = offset + 8;
    return ETHERNET;
  }

  #dwords(offset: number, count: number): void {
    const first = this.#record + at.TUNNEL_HEADER;
    for (let n = 0; n < count; n++) this.fields[first + n] = be32(this.bytes, offset + 4 * n);
  }

  #geneve(): number {
    const offset = this.at;
    if (!this.has(Header.geneve, 8)) return NOTHING;
    const { bytes, fields } = this;
    const first = bytes[offset]!;
    const known = first >> 6 === 0;
    const size = known ? 8 + ((first & 0x3f) << 2) : 8;
    if (!this.has(Header.geneve, size)) return NOTHING;
    this.note(Header.geneve, offset);
    const record = this.#record;
    const dwords = Math.min(size >> 2, 4);
    fields[record + at.TUNNELS] = key.PRESENT_GENEVE | (((1 << dwords) - 1) * key.PRESENT_TUNNEL_DWORD);
    const type = be16(bytes, offset + 2);
    if (this.#wanted & NEEDS_MISC) {
      fields[record + at.GENEVE_OPT_LEN] = first & 0x3f;
      fields[record + at.GENEVE_PROTOCOL] = type;
      fields[record + at.GENEVE_VNI] = be32(bytes, offset + 4) >>> 8;
      fields[record + at.GENEVE_BITS] = bytes[offset + 1]! >> 7;
    }
    if (this.#wanted & NEEDS_REST) this.#dwords(offset, dwords);
    if (this.#option !== NOTHING) this.#option0(offset + 8, offset + size);
    this.at = offset + size;
    return known && (type === ETHERNET || type === 0x0800 || type === 0x86dd) ? type : NOTHING;
  }

  #option0(option: number, end: number): void {
    const { bytes, fields } = this;
    const record = this.#record;
    while (option < end) {
      const size = 4 + ((bytes[option + 3]! & 0x1f) << 2);
      if (end - option < size) return;
      if (be32(bytes, option) >>> 8 === this.#option) {
        fields[record + at.GENEVE_BITS]! |= 2;
        if (size === 4) return;
        fields[record + at.TUNNELS]! |= key.PRESENT_GENEVE_OPTION_0;
        fields[record + at.GENEVE_OPTION_0] = be32(bytes, option + 4);
        return;
      }
      option += size;
    }
  }
}
