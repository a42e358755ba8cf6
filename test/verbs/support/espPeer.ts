/**
 * One end of a tunnel as a separate process: `seal` or `open`. Frames are read and written as pcap
 * through standard input and output; the counts of its flow and the state of the action are written
 * to standard error at the end.
 */
import { CaptureDecoder, PcapWriter } from "../../../src/index.js";
import { BMP, create, ENCRYPT, ESN, handle, tunnel } from "./esp.js";
import { count, EGRESS, FlowBench, valuesOf } from "./flows.js";

const seals = process.argv[2] === "seal";
/** The upper half of the number changes during the test. */
const NUMBERS = { comp_mask: ESN, esn: 6 };
const WINDOW = { replay_proto: BMP, replay_ptr: { size: 64 } };
const attr = { seq: 2 ** 32 - 100 };

const bench = await FlowBench.open();
const counters = bench.counters();
const action = create(bench, seals ? tunnel(ENCRYPT, NUMBERS, attr) : tunnel(0, { ...NUMBERS, ...WINDOW }, attr));
const over = seals ? EGRESS : {};
bench.flow("end", [handle(action), count(counters)], over);

const writer = new PcapWriter({ linkType: 1 });
const write = (bytes: Uint8Array): void => void process.stdout.write(bytes.slice());
write(writer.header());
const goesOn = (bytes: Uint8Array): void => write(writer.frame({ time: 0n, bytes }));
bench.device.connect(1, goesOn);

const decoder = new CaptureDecoder();
for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
  const frames = decoder.push(chunk).map(({ bytes }) => bytes);
  if (seals) for (const frame of frames) bench.device.send(bench.qp("end"), frame);
  else for (const { to } of bench.device.receiveBatch(1, frames)) for (const { frame } of to) goesOn(frame);
}
const [packets, bytes] = valuesOf(counters);
const { number, packets: done } = action.state;
process.stderr.write([packets, bytes, done, number, bench.device.reasons().esp_replay].join(" "));
