/** The gateway in plain JavaScript. */
import { Header } from "../../src/abi/headers.js";
import { PRESENT_ETH, PRESENT_L3 } from "../../src/abi/key.js";
import { plainValue, TUPLE_MASK } from "../nic.js";
import type { MaskWord } from "../peers/classifier.js";
import { PlainPipeline, PlainTable, type PlainStep } from "../peers/pipeline.js";
import * as at from "../peers/record.js";
import { COVER_IP, COVER_L4, PlainTunnel, type PlainChange } from "../peers/rewrite.js";
import { tupleAt } from "../tuples.js";
import {
  gatewayMac,
  hostAddress,
  hostMac,
  hostPort,
  OWN_MACS,
  ownMac,
  tunnelHeaders,
  type Count,
  type Mac,
} from "./gateway.js";

export interface PlainGateway {
  pipeline: PlainPipeline;
  counts: () => Count[];
}

const MAC_MASK: readonly MaskWord[] = [
  { word: at.DMAC_HIGH, bits: 0xffff },
  { word: at.DMAC_LOW, bits: -1 },
  { word: at.HERE, bits: PRESENT_ETH },
];
const macValue = ([high, low]: Mac): number[] => [high, low | 0, PRESENT_ETH];
const ROUTE_MASK: readonly MaskWord[] = [
  { word: at.DST + 3, bits: -1 },
  { word: at.STATE, bits: 0x1e },
  { word: at.HERE, bits: PRESENT_L3 },
];

/** `room` bytes for the frames of a batch. */
export function plainGateway(rules: number, batch: number, room: number): PlainGateway {
  const pipeline = new PlainPipeline(batch, room);
  const [tuples, routes, tunnels] = [new PlainTable(), new PlainTable(), new PlainTable()];
  const counters = Array.from({ length: rules }, () => ({ packets: 0, bytes: 0 }));
  const insert = (
    { classifier }: PlainTable,
    mask: readonly MaskWord[],
    i: number,
    value: number[],
    step: Partial<PlainStep>,
  ): void => {
    const whole = { changes: [], counter: null, tunnel: null, next: null, drop: false, ...step };
    classifier.group(mask).insert(value, i, whole);
  };

  for (let i = 0; i < OWN_MACS; i++) {
    insert(pipeline.root, MAC_MASK, i, macValue(ownMac(i)), i === 0 ? { next: tuples } : { drop: true });
  }
  for (const [i, counter] of counters.entries()) {
    const translate = [
      change(Header.ipv4, 16, 4, hostAddress(i), at.DST + 3, COVER_IP | COVER_L4),
      change(Header.tcp, 2, 2, hostPort(i), at.TCP_PORTS, COVER_L4),
      change(Header.ipv4, 8, 1, 0xff, at.TTL, COVER_IP, true),
    ];
    insert(tuples, TUPLE_MASK, i, plainValue(tupleAt(i)), { changes: translate, counter, next: routes });
    const macs = [...mac(6, gatewayMac, at.SMAC_HIGH), ...mac(0, hostMac(i), at.DMAC_HIGH)];
    insert(routes, ROUTE_MASK, i, [hostAddress(i) | 0, 8, PRESENT_L3], { changes: macs, next: tunnels });
    insert(tunnels, MAC_MASK, i, macValue(hostMac(i)), { tunnel: new PlainTunnel(tunnelHeaders(i)) });
  }
  return { pipeline, counts: () => counters.map(({ packets, bytes }) => [packets, bytes]) };
}

function change(
  header: Header,
  offset: number,
  size: 1 | 2 | 4,
  value: number,
  word: number,
  covered: number,
  add = false,
): PlainChange {
  return { header, offset, size, add, value: value | 0, word, covered };
}

/** `word` has the first two bytes, the one behind it the others. */
function mac(offset: number, [high, low]: Mac, word: number): PlainChange[] {
  return [change(Header.ethernet, offset, 2, high, word, 0), change(Header.ethernet, offset + 2, 4, low, word + 1, 0)];
}
