/**
 * A parser in plain JavaScript that does what assembly/wire does for Ethernet frames: the same fields, the same rulings,
 * the same list of headers. One class whose methods V8 inlines; nothing is allocated for a frame.
 */
import { Header, LEVEL_INNER, LEVEL_OUTER, Stop } from "../../src/abi/headers.js";
import {
  HERE_ETH,
  HERE_ETHERTYPE,
  HERE_ICMP,
  HERE_ICMPV6,
  HERE_IPV4,
  HERE_IPV6,
  HERE_L3,
  HERE_PROTOCOL,
  HERE_TCP,
  HERE_TUNNEL_DWORD,
  HERE_UDP,
  HERE_VLAN,
  HERE_VLAN2,
  HERE_VXLAN,
  OK_L3,
  OK_L4,
  STATE_CVLAN,
  STATE_FRAG,
  STATE_SVLAN,
} from "../../src/abi/key.js";
import * as at from "./record.js";

const NOTHING = -1;
const VXLAN_PORT = 4789;

function be16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 8) | bytes[offset + 1]!;
}

function be32(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!;
}

function isTag(ethertype: number): boolean {
  return ethertype === 0x8100 || ethertype === 0x88a8;
}

export class PlainParser {
  /** RECORD_WORDS words a frame. */
  readonly fields: Int32Array;
  /** LIST_WORDS words a frame. */
  readonly lists: Int32Array;

  #bytes: Uint8Array = new Uint8Array(0);
  #frame = 0;
  #at = 0;
  #end = 0;
  #level = LEVEL_OUTER;
  #here = 0;
  #whole = true;
  #record = 0;
  #layer = 0;
  #list = 0;
  #later = false;
  #fragmented = false;
  #lengthKnown = true;

  constructor(frames: number) {
    this.fields = new Int32Array(frames * at.RECORD_WORDS);
    this.lists = new Int32Array(frames * at.LIST_WORDS);
  }

  /**
   * Parses `length` bytes at `start`, all of the frame, into record `i`; without `whole`, only the fields that the key
   * has in its groups outer and ext.
   */
  parse(bytes: Uint8Array, start: number, length: number, port: number, i: number, whole: boolean): void {
    const { fields, lists } = this;
    const record = i * at.RECORD_WORDS;
    const list = i * at.LIST_WORDS;
    this.#bytes = bytes;
    this.#frame = start;
    this.#at = start;
    this.#end = start + length;
    this.#whole = whole;
    this.#record = record;
    this.#list = list;
    fields.fill(0, record, record + (whole ? at.RECORD_WORDS : at.LAYER_WORDS));
    fields[record + at.TUNNELS] = 0;
    fields[record + at.PORT] = port;
    for (let word = list; word < list + at.LIST_FIRST; word++) lists[word] = 0;

    this.#open(LEVEL_OUTER, record);
    const destination = this.#network(this.#ethernet());
    fields[record + at.HERE] = this.#here;
    lists[list + at.LIST_PAYLOAD] = this.#at - start;
    lists[list + at.LIST_PAYLOAD + 1] = this.#end - start;
    if (destination === VXLAN_PORT && this.#vxlan() && whole) {
      this.#open(LEVEL_INNER, record + at.INNER_WORDS);
      this.#network(this.#ethernet());
      fields[this.#layer + at.HERE] = this.#here;
      lists[list + at.LIST_INNER_PAYLOAD] = this.#at - start;
      lists[list + at.LIST_INNER_PAYLOAD + 1] = this.#end - start;
    }
  }

  #open(level: number, layer: number): void {
    this.#level = level;
    this.#layer = layer;
    this.#here = 0;
  }

  #note(kind: number, offset: number): void {
    const { lists } = this;
    const list = this.#list;
    const count = lists[list]!;
    if (count >= at.LIST_ENTRIES) return;
    lists[list + at.LIST_FIRST + 2 * count] = kind | (this.#level << 8);
    lists[list + at.LIST_FIRST + 2 * count + 1] = offset - this.#frame;
    lists[list] = count + 1;
  }

  /** The frames here are captured whole, so what is missing lies beyond the packet or the frame. */
  #has(kind: number, bytes: number): boolean {
    if (this.#end - this.#at >= bytes) return true;
    return this.#stop(kind, Stop.beyond_packet, bytes);
  }

  #stop(kind: number, why: number, wanted: number): false {
    const stop = this.#list + at.LIST_STOP;
    const { lists } = this;
    lists[stop] = kind;
    lists[stop + 1] = why;
    lists[stop + 2] = this.#at - this.#frame;
    lists[stop + 3] = wanted;
    lists[stop + 4] = this.#end - this.#at;
    return false;
  }

  #ethernet(): number {
    const offset = this.#at;
    if (!this.#has(Header.ethernet, 14)) return NOTHING;
    this.#note(Header.ethernet, offset);
    const { fields } = this;
    const bytes = this.#bytes;
    const layer = this.#layer;
    fields[layer + at.DMAC_HIGH] = be16(bytes, offset);
    fields[layer + at.DMAC_LOW] = be32(bytes, offset + 2);
    fields[layer + at.SMAC_HIGH] = be16(bytes, offset + 6);
    fields[layer + at.SMAC_LOW] = be32(bytes, offset + 8);
    this.#here |= HERE_ETH;
    this.#at = offset + 14;
    let ethertype = be16(bytes, offset + 12);
    for (let depth = 0; isTag(ethertype); depth++) {
      const tag = this.#at;
      if (!this.#has(Header.vlan, 4)) return NOTHING;
      this.#note(Header.vlan, tag);
      this.#tag(depth, ethertype === 0x8100, be16(bytes, tag));
      ethertype = be16(bytes, tag + 2);
      this.#at = tag + 4;
    }
    fields[layer + at.ETHERTYPE] = ethertype;
    this.#here |= HERE_ETHERTYPE;
    return ethertype;
  }

  #tag(depth: number, customer: boolean, tci: number): void {
    const { fields } = this;
    const layer = this.#layer;
    if (depth === 0) {
      fields[layer + at.TCI] = tci;
      fields[layer + at.STATE] = customer ? STATE_CVLAN : STATE_SVLAN;
      this.#here |= HERE_VLAN;
    } else if (depth === 1) {
      this.#here |= HERE_VLAN2;
      if (!this.#whole) return;
      fields[layer + at.TCI2] = tci;
      fields[this.#record + at.TAGS2]! |= (customer ? 0x80 : 0x20) >> this.#level;
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
    else if (protocol === 1) this.#icmp(Header.icmp, HERE_ICMP, at.ICMP_TYPE);
    else if (protocol === 58) this.#icmp(Header.icmpv6, HERE_ICMPV6, at.ICMPV6_TYPE);
    return NOTHING;
  }

  #arp(): void {
    const offset = this.#at;
    if (!this.#has(Header.arp, 8)) return;
    const size = 8 + 2 * (this.#bytes[offset + 4]! + this.#bytes[offset + 5]!);
    if (!this.#has(Header.arp, size)) return;
    this.#note(Header.arp, offset);
    this.#at = offset + size;
  }

  #ipv4(): number {
    const offset = this.#at;
    if (!this.#has(Header.ipv4, 1)) return NOTHING;
    const { fields } = this;
    const bytes = this.#bytes;
    const first = bytes[offset]!;
    if (first >> 4 !== 4) return this.#refuse(Header.ipv4, Stop.bad_version, 20);
    const size = (first & 15) << 2;
    if (size < 20) return this.#refuse(Header.ipv4, Stop.bad_header_length, 20);
    if (!this.#has(Header.ipv4, 20) || !this.#has(Header.ipv4, size)) return NOTHING;
    this.#note(Header.ipv4, offset);
    const layer = this.#layer;
    const protocol = bytes[offset + 9]!;
    const fragment = be16(bytes, offset + 6);
    this.#fragmented = (fragment & 0x3fff) !== 0;
    this.#later = (fragment & 0x1fff) !== 0;
    fields[layer + at.STATE]! |= this.#fragmented ? 8 | STATE_FRAG : 8;
    fields[layer + at.PROTOCOL] = protocol;
    fields[layer + at.TOS] = bytes[offset + 1]!;
    fields[layer + at.TTL] = bytes[offset + 8]!;
    fields[layer + at.SRC + 3] = be32(bytes, offset + 12);
    fields[layer + at.DST + 3] = be32(bytes, offset + 16);
    fields[layer + at.IPV4_FLAGS] = (fragment >> 8) & 0xe0;
    this.#here |= HERE_L3 | HERE_IPV4 | HERE_PROTOCOL;
    const total = be16(bytes, offset + 2);
    this.#lengthKnown = true;
    let ok = (first << 4) & 0xf0;
    if (total >= size && total <= this.#end - offset) {
      ok |= OK_L3;
      this.#end = offset + total;
    }
    fields[layer + at.OK] = ok;
    this.#at = offset + size;
    return this.#later ? NOTHING : protocol;
  }

  #refuse(kind: number, why: number, wanted: number): number {
    this.#stop(kind, why, wanted);
    return NOTHING;
  }

  #ipv6(): number {
    const offset = this.#at;
    if (!this.#has(Header.ipv6, 1)) return NOTHING;
    const { fields } = this;
    const bytes = this.#bytes;
    if (bytes[offset]! >> 4 !== 6) return this.#refuse(Header.ipv6, Stop.bad_version, 40);
    if (!this.#has(Header.ipv6, 40)) return NOTHING;
    this.#note(Header.ipv6, offset);
    const layer = this.#layer;
    const first = be32(bytes, offset);
    fields[layer + at.TOS] = (first >> 20) & 0xff;
    fields[layer + at.STATE]! |= 12;
    fields[layer + at.TTL] = bytes[offset + 7]!;
    for (let word = 0; word < 8; word++) fields[layer + at.SRC + word] = be32(bytes, offset + 8 + 4 * word);
    if (this.#whole) fields[layer + at.FLOW_LABEL] = first & 0xfffff;
    this.#here |= HERE_L3 | HERE_IPV6;
    const payload = be16(bytes, offset + 4);
    // A jumbo payload is longer than any frame here: length 0 stays unknown.
    this.#lengthKnown = payload !== 0;
    this.#fragmented = false;
    this.#later = false;
    let ok = OK_L3;
    if (payload !== 0) {
      if (payload + 40 <= this.#end - offset) this.#end = offset + 40 + payload;
      else ok = 0;
    }
    fields[layer + at.OK] = ok;
    this.#at = offset + 40;
    const protocol = this.#extensions(bytes[offset + 6]!);
    if (protocol === NOTHING) return NOTHING;
    fields[layer + at.PROTOCOL] = protocol;
    this.#here |= HERE_PROTOCOL;
    return this.#later ? NOTHING : protocol;
  }

  #extensions(next: number): number {
    const bytes = this.#bytes;
    for (;;) {
      let kind: Header;
      if (next === 0) kind = Header.ipv6_hop_by_hop;
      else if (next === 43) kind = Header.ipv6_routing;
      else if (next === 60) kind = Header.ipv6_destination;
      else if (next === 44) kind = Header.ipv6_fragment;
      else if (next === 51) kind = Header.ah;
      else return next;
      const offset = this.#at;
      if (!this.#has(kind, 8)) return NOTHING;
      const length = bytes[offset + 1]!;
      const size = kind === Header.ipv6_fragment ? 8 : kind === Header.ah ? (length + 2) << 2 : (length + 1) << 3;
      if (!this.#has(kind, size)) return NOTHING;
      this.#note(kind, offset);
      this.#at = offset + size;
      next = bytes[offset]!;
      if (kind !== Header.ipv6_fragment) continue;
      const word = be16(bytes, offset + 2);
      if ((word & 0xfff9) === 0) continue;
      this.fields[this.#layer + at.STATE]! |= STATE_FRAG;
      this.#fragmented = true;
      this.#later = word >> 3 !== 0;
      if (this.#later) return next;
    }
  }

  #tcp(): void {
    const offset = this.#at;
    if (!this.#has(Header.tcp, 20)) return;
    const { fields } = this;
    const bytes = this.#bytes;
    const size = (bytes[offset + 12]! >> 4) << 2;
    const sane = size >= 20 && size <= this.#end - offset;
    this.#note(Header.tcp, offset);
    const layer = this.#layer;
    fields[layer + at.TCP_PORTS] = be32(bytes, offset);
    fields[layer + at.STATE]! |= bytes[offset + 12]! & 1;
    fields[layer + at.TCP_FLAGS] = bytes[offset + 13]!;
    if (this.#whole) {
      fields[layer + at.SEQ] = be32(bytes, offset + 4);
      fields[layer + at.ACK] = be32(bytes, offset + 8);
    }
    this.#here |= HERE_TCP;
    if (sane && this.#lengthKnown) fields[layer + at.OK]! |= OK_L4;
    this.#at = offset + (sane ? size : 20);
  }

  #udp(): number {
    const offset = this.#at;
    if (!this.#has(Header.udp, 8)) return NOTHING;
    this.#note(Header.udp, offset);
    const { fields } = this;
    const layer = this.#layer;
    const ports = be32(this.#bytes, offset);
    fields[layer + at.UDP_PORTS] = ports;
    this.#here |= HERE_UDP;
    const length = be16(this.#bytes, offset + 4);
    if (length >= 8 && length <= this.#end - offset && this.#lengthKnown) fields[layer + at.OK]! |= OK_L4;
    this.#at = offset + 8;
    return ports & 0xffff;
  }

  #icmp(kind: number, here: number, word: number): void {
    const offset = this.#at;
    if (!this.#has(kind, 8)) return;
    this.#note(kind, offset);
    this.#at = offset + 8;
    if (this.#level !== LEVEL_OUTER) return;
    this.#here |= here;
    if (!this.#whole) return;
    this.fields[this.#record + word] = be16(this.#bytes, offset);
    this.fields[this.#record + word + 1] = be32(this.#bytes, offset + 4);
  }

  #vxlan(): boolean {
    const offset = this.#at;
    if (!this.#has(Header.vxlan, 8)) return false;
    this.#note(Header.vxlan, offset);
    const { fields } = this;
    const record = this.#record;
    fields[record + at.TUNNELS] = HERE_VXLAN | HERE_TUNNEL_DWORD | (HERE_TUNNEL_DWORD << 1);
    this.#at = offset + 8;
    if (!this.#whole) return true;
    const high = be32(this.#bytes, offset);
    const low = be32(this.#bytes, offset + 4);
    fields[record + at.VNI] = low >>> 8;
    fields[record + at.TUNNEL_HEADER] = high;
    fields[record + at.TUNNEL_HEADER + 1] = low;
    return true;
  }
}
