/** Captures of some megabytes, with frames of many connections. */
import { buildFrame } from "../../../../src/packet/builder/build.js";
import { PcapngWriter, PcapWriter } from "../../../../src/packet/capture/writer.js";
import { Random } from "../../../oracle/generate/random.js";

const NO_PARSER = 147;
const PORTS = [80, 443, 53, 22] as const;

export interface CaptureSize {
  readonly frames: number;
  readonly seed: number;
}

/** A frame between two of some hosts, in either direction. */
function frameOf(random: Random): Uint8Array {
  const [a, b] = [`10.0.0.${random.between(1, 6)}`, `10.0.1.${random.between(1, 6)}`];
  const [source, destination] = random.chance(0.5) ? [a, b] : [b, a];
  const port = PORTS[random.below(PORTS.length)] as number;
  return buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source, destination },
    { header: random.chance(0.5) ? "tcp" : "udp", source_port: random.between(1024, 65535), destination_port: port },
    { header: "payload", bytes: "00".repeat(random.between(600, 1300)) },
  ]);
}

/** Different frames; captures repeat them in random order. */
function pool(random: Random): Uint8Array[] {
  return Array.from({ length: 300 }, () => frameOf(random));
}

export function pcap({ frames, seed }: CaptureSize): Uint8Array {
  const random = new Random(seed);
  const some = pool(random);
  const writer = new PcapWriter({ linkType: 1 });
  const records = Array.from({ length: frames }, (_, n) =>
    writer.frame({ time: BigInt(n) * 1000n, bytes: some[random.below(some.length)] as Uint8Array }),
  );
  return Buffer.concat([writer.header(), ...records]);
}

/** Two sections, whose interfaces have other numbers; one interface has no parser. */
export function pcapng({ frames, seed }: CaptureSize): Uint8Array {
  const random = new Random(seed);
  const some = pool(random);
  const section = (linkTypes: readonly number[], first: number): Uint8Array[] => {
    const writer = new PcapngWriter({ interfaces: linkTypes.map((linkType) => ({ linkType, nanoseconds: true })) });
    const records = Array.from({ length: frames / 2 }, (_, n) => {
      const bytes = some[random.below(some.length)] as Uint8Array;
      const linkType = random.chance(0.02) ? NO_PARSER : 1;
      return writer.frame({ time: BigInt(first + n) * 777n, bytes, interfaceId: linkTypes.indexOf(linkType) });
    });
    return [writer.header(), ...records];
  };
  return Buffer.concat([...section([1, NO_PARSER], 0), ...section([101, NO_PARSER, 1], frames / 2)]);
}
