/** Bytes of headers that testpmd puts in front of frames, from items with values. */
import { hexOf } from "../../../../base/hex.js";
import type { Item } from "../pattern/read.js";
import { notImported } from "../../../text/refusal.js";

/** A header: the name of its item, and its bytes. */
export interface RawHeader {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What the header before says of this one: an EtherType, or an IP protocol. */
const CARRIED: Readonly<Record<string, number>> = {
  vlan: 0x8100,
  ipv4: 0x0800,
  ipv6: 0x86dd,
  udp: 17,
  tcp: 6,
  gre: 47,
  nvgre: 47,
  esp: 50,
};

/** The headers of `set raw_encap` and `set raw_decap`. @throws NotImported */
export function rawHeaders(items: readonly Item[]): RawHeader[] {
  const headers = items
    .filter(({ name }) => name !== "void")
    .map((item) => ({ name: item.name, bytes: bytesOf(item) }));
  headers.forEach(({ name, bytes }, n) => complete(name, bytes, CARRIED[headers[n + 1]?.name ?? ""] ?? 0));
  return headers;
}

function bytesOf(item: Item): Uint8Array {
  const { length } = item.kind;
  if (length === undefined)
    notImported(item.word, "testpmd does not put this header in front of frames, or the device does not");
  let header = 0n;
  for (const [name, { spec, word }] of item.fields) {
    const field = item.kind.fields[name];
    if (field?.at === undefined) notImported(word, `the place of ${name} in the header is not fixed`);
    header |= spec << BigInt(length * 8 - field.at - field.bits);
  }
  return Uint8Array.from({ length }, (_, n) => Number((header >> BigInt((length - 1 - n) * 8)) & 0xffn));
}

/** What testpmd fills in where the text has nothing. */
function complete(name: string, bytes: Uint8Array, next: number): void {
  const put16 = (at: number, value: number): void => bytes.set([value >> 8, value & 255], at);
  const next8 = next < 256 ? next : 0;
  switch (name) {
    case "eth":
      if (next !== 0) put16(12, next);
      break;
    case "vlan":
      if (bytes[2] === 0 && bytes[3] === 0) put16(2, next);
      break;
    case "ipv4":
      if (bytes[0] === 0) bytes[0] = 0x45;
      if (bytes[9] === 0) bytes[9] = next8;
      break;
    case "ipv6":
      bytes[0] = 0x60 | ((bytes[0] ?? 0) & 0x0f);
      if (bytes[6] === 0) bytes[6] = next8;
      break;
    case "vxlan":
      bytes[0] = 0x08;
      break;
    case "vxlan-gpe":
      bytes[0] = 0x0c;
      break;
    case "nvgre":
      put16(0, 0x2000);
      put16(2, 0x6558);
      break;
  }
}

export function headersHex(headers: readonly RawHeader[]): string {
  return headers.map(({ bytes }) => hexOf(bytes)).join("");
}
