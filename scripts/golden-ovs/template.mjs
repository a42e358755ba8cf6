// Our data of an encapsulation: the headers that Open vSwitch puts in front, without what is mended from the frame.

/** UDP ports of tunnels whose source port says to which flow a frame belongs (docs/rules.md, Packet reformat). */
const WITH_ENTROPY = [4789, 4790, 6081, 2152, 6635];

/**
 * The first `length` bytes of a frame that was sent, with `fill` in the bytes that an encapsulation mends, and 0 as the UDP
 * checksum where there is one; and where that frame may differ from ours (test/golden/ovs/differences.ts).
 */
export function template(sent, { length, fill }) {
  const data = Buffer.from(sent, "hex").subarray(0, length);
  const others = [];
  let at = 12;
  while ([0x8100, 0x88a8].includes(data.readUInt16BE(at))) at += 4;
  const six = data.readUInt16BE(at) === 0x86dd;
  const ip = at + 2;
  const upper = ip + (six ? 40 : 20);
  const mended = six
    ? [[ip + 4, 2]]
    : [
        [ip + 2, 2],
        [ip + 10, 2],
      ];
  if (data[ip + (six ? 6 : 9)] === 17) {
    mended.push([upper + 4, 2]);
    if (WITH_ENTROPY.includes(data.readUInt16BE(upper + 2))) {
      mended.push([upper, 2]);
      others.push({ offset: upper, length: 2, what: "udp_source_port" });
    }
    if (data.readUInt16BE(upper + 6) !== 0) {
      data.fill(0, upper + 6, upper + 8);
      others.push({ offset: upper + 6, length: 2, what: "udp_checksum" });
    }
  }
  for (const [from, bytes] of mended) data.fill(fill, from, from + bytes);
  return { data: data.toString("hex"), others };
}
