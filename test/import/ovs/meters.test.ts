/** Meters of a bridge: frames that exceed the rate end, whatever is left to do. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

const FRAME = buildFrame([
  { header: "ethernet" },
  { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.1" },
  { header: "udp", destination_port: 53 },
]);
const MAP = { "1": "uplink", "2": "pf" };
const DUMPED = `OFPST_METER_CONFIG reply (OF1.3) (xid=0x2):
meter=1 pktps burst bands=
type=drop rate=1 burst_size=2
`;

function imported(text: string): Scenario {
  const { scenario, findings } = importRules(text, { map: MAP });
  expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
  return scenario as Scenario;
}

/** Whether each frame arrives; a little more than a second passes after each text: rates of the device are rounded. */
async function arrivals(scenario: Scenario, counts: readonly number[]): Promise<string[]> {
  const { device } = await loadScenario(scenario);
  return counts.map((count) => {
    const verdicts = Array.from({ length: count }, () => device.receive(1, FRAME).verdict === "drop");
    device.advance(1_100_000_000n);
    return verdicts.map((lost) => (lost ? "-" : "+")).join("");
  });
}

test("a meter of dump-meters drops what exceeds its rate", async () => {
  const scenario = imported(`${DUMPED}table=0,in_port=1 actions=meter:1,output:2`);
  expect(scenario.asoObjects).toEqual([{ name: "meter 1", flow_meter: { meter_mode: "pkt", cir: 1, cbs: 2 } }]);
  expect(await arrivals(scenario, [4, 2])).toEqual(["++--", "+-"]);
});

test("flows share a meter, and what is left to do ends with the frame", async () => {
  const scenario = imported(`${DUMPED}
table=0,in_port=1 actions=set_field:02:00:00:00:00:01->eth_src,meter:1,resubmit(,1),output:2
table=1 actions=meter:1`);
  // The second lookup takes the second packet of the burst.
  expect(await arrivals(scenario, [2])).toEqual(["+-"]);
});

test("rates are thousands of bits, or packets", () => {
  const rates = (text: string): unknown =>
    imported(`${text}\nin_port=1 actions=meter:7,output:2`).asoObjects?.[0]?.flow_meter;
  const command = "ovs-ofctl -O OpenFlow13 add-meter br0 ";
  expect(rates(`${command}"meter=7,kbps,burst,band=type=drop,rate=800,burst_size=80"`)).toEqual({
    meter_mode: "l2_len",
    cir: 100_000,
    cbs: 10_000,
  });
  expect(rates(`${command}meter=7,kbps,band=type=drop,rate=800`)).toEqual({
    meter_mode: "l2_len",
    cir: 100_000,
    cbs: 100_000,
  });
});

test("what a meter of the device does not have is refused with its place", () => {
  const { findings } = importRules(
    `meter=1 kbps bands=type=dscp_remark rate=10
meter=2 kbps bands=type=drop rate=10 type=drop rate=20
in_port=1 actions=meter:3,output:2`,
    { map: MAP },
  );
  const refused = findings.filter(({ severity }) => severity === "refused");
  expect(refused.map(({ line, reason }) => [line, reason])).toEqual([
    [1, "a meter of the device drops frames: a band has type=drop"],
    [2, "a meter of the device drops at one rate: one band"],
    [3, "the text does not define the rates of this meter: add what ovs-ofctl dump-meters prints"],
  ]);
});
