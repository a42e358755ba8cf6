/**
 * Bursts (docs/frames.md): the same outcomes as frame by frame, in columns and as objects; and what
 * bursts refuse.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import {
  CaptureDecoder,
  createDevice,
  createDevicePool,
  NO_RULE,
  REASONS,
  SteeringError,
  VERDICTS,
  type Destination,
  type Outcome,
} from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Domain } from "../../../src/model/table/domain.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { ibv_poll_cq } from "../../../src/verbs/index.js";
import { openStation, postBuffers, received } from "../../verbs/support/queuePairs.js";
import { sampleOf } from "../../support/tier.js";

const FOLDER = new URL("../../../examples/", import.meta.url);
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

interface Input {
  bytes: Uint8Array;
  port: number;
  time: bigint;
}

/** The received frames of an example, and those of its capture. */
function inputsOf(name: string, { frames, device }: LoadedScenario): Input[] {
  const own = frames.filter(({ send, before }) => send === undefined && before === undefined);
  const inputs = own.map(({ bytes, port = 1, time }) => ({ bytes, port, time: time ?? 0n }));
  if (name !== "everyday.json") return inputs;
  const capture = new CaptureDecoder().push(readFileSync(new URL("everyday.pcap", FOLDER)));
  return capture.map(({ bytes, time }, i) => ({ bytes, port: 1 + (i % device.ports), time: time ?? 0n }));
}

/** An outcome without the objects of its device. */
function plain({ verdict, reason, tag, registers, rules, to, copies }: Outcome): unknown {
  const arrived = ({ name, frame, tag, linkType, espFault }: Destination): unknown[] => [
    name,
    Buffer.from(frame).toString("hex"),
    tag,
    linkType,
    espFault,
  ];
  const hit = rules.map((rule) => rule.constructor.name);
  return { verdict, reason, tag, registers, hit, to: to.map(arrived), copies: copies.map(arrived) };
}

describe.each(sampleOf(EXAMPLES))("%s", (name) => {
  const text = readFileSync(new URL(name, FOLDER), "utf8");

  test.each([
    ["put", 1],
    ["add", 1],
    ["put", 3],
  ] as const)("the frames of a burst (%s, %i workers) become what they become one by one", async (how, workers) => {
    const one = await loadScenario(text);
    const other = await loadScenario(text, {}, (options) => createDevicePool({ ...options, workers, few: 1 }));
    const inputs = inputsOf(name, one);
    const burst = other.device.openBurst();
    for (let first = 0; first < inputs.length; first += burst.rows) {
      const some = inputs.slice(first, first + burst.rows);
      burst.clear();
      let end = 0;
      for (const { bytes, port, time } of some) {
        if (how === "add") burst.bytes.set(bytes, end);
        const row = how === "put" ? burst.put(bytes, port) : burst.add(end, bytes.length, port);
        end += bytes.length;
        burst.stamp(row, time);
      }
      // With cables, all frames have left when this returns.
      if (workers === 3) burst.start();
      expect(burst.steer()).toBe(some.length);
      for (const [row, input] of some.entries()) {
        const expected = one.device.receive(input.port, input.bytes, { time: input.time });
        expect(plain(burst.outcome(row))).toEqual(plain(expected));
        const { verdict, reason, tag, rules, to, copies } = expected;
        expect(VERDICTS[burst.verdicts[row]!]).toBe(verdict);
        expect(REASONS[burst.reasons[row]!]).toBe(reason ?? "none");
        expect(burst.tagged[row] === 1 ? burst.tags[row] : null).toBe(tag);
        expect(burst.destinations[row]).toBe(to.length + copies.length);
        if (burst.hits[row] === 0) expect(burst.rules[row]).toBe(NO_RULE);
        const last = other.device.rulesOf(burst.rules[row]!);
        const hit = burst.outcome(row).rules;
        expect(hit.slice(hit.length - last.length)).toEqual(last);
        expect(rules.length).toBe(hit.length);
        if (to.length + copies.length === 1) {
          const [destination] = [...to, ...copies];
          expect(other.device.destinationName(burst.queues[row]!, burst.kinds[row]!)).toBe(destination!.name);
        }
      }
    }
  });
});

test("a burst refuses what cannot be steered, and stays as it is", async () => {
  const device = await createDevice({ ports: 2 });
  const burst = device.openBurst();
  const told = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      if (error instanceof SteeringError) return `${error.code} ${error.reason} ${error.path}`;
    }
    return "taken";
  };
  const frame = new Uint8Array(64);
  expect(told(() => burst.put(frame, 3))).toBe("EINVAL out_of_range port");
  expect(told(() => burst.put(frame, 1, 147))).toBe("EOPNOTSUPP bad_link_type linkType");
  expect(told(() => burst.put(frame, 1, 1, 63))).toBe("EINVAL out_of_range wireLength");
  expect(told(() => burst.put(new Uint8Array(262_145)))).toBe("EINVAL out_of_range length");
  expect(told(() => burst.add(burst.bytes.length - 63, 64))).toBe("EINVAL out_of_range offset");
  expect(told(() => burst.stamp(0, 0n))).toBe("EINVAL out_of_range row");
  expect(told(() => burst.outcome(0))).toBe("EINVAL burst_state burst");
  expect(burst.count).toBe(0);
  for (let row = 0; row < burst.rows; row++) expect(burst.put(frame)).toBe(row);
  expect(burst.put(frame)).toBe(-1);
  expect(burst.steer()).toBe(burst.rows);
  expect(told(() => burst.steer())).toBe("EINVAL burst_state burst");
  expect(told(() => burst.put(frame))).toBe("EINVAL burst_state burst");
  expect(burst.outcome(255).reason).toBe("no_rule");
  device.receive(1, frame);
  expect(told(() => burst.outcome(255))).toBe("EBUSY in_use burst");
  expect(VERDICTS[burst.verdicts[255]!]).toBe("miss");
  burst.clear();
  expect(burst.put(frame)).toBe(0);
  device.receive(1, frame);
  expect(told(() => burst.steer())).toBe("EBUSY in_use burst");
});

test("without cables, frames for receive buffers and frames that leave by a port stand in one burst", async () => {
  const station = await openStation({ ports: 2 });
  const { device, context, qp } = station;
  postBuffers(station, 1);
  const rule = (type: number, dport: number, to: (domain: Domain) => Action): void => {
    const domain = dv.mlx5dv_dr_domain_create(context, type);
    const match = dv.matchParameters({ "outer.tcp_dport": dport });
    const table = dv.mlx5dv_dr_table_create(domain, 0);
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match.match_criteria_enable, match.mask);
    dv.mlx5dv_dr_rule_create(matcher, match.value, 1, [to(domain)]);
  };
  rule(dv.MLX5DV_DR_DOMAIN_TYPE_FDB, 80, (domain) => dv.mlx5dv_dr_action_create_dest_ib_port(domain, 2));
  rule(dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX, 81, () => dv.mlx5dv_dr_action_create_dest_ibv_qp(qp));
  const burst = device.openBurst();
  for (const dport of [80, 81]) burst.put(ipv4Frame({ dport }));
  expect(burst.steer()).toBe(2);
  const frame = ipv4Frame({ dport: 81 });
  expect(received(station, 0, frame.length)).toEqual(frame);
  const ends = [0, 1].map((row) => burst.outcome(row).to.map(({ kind, name }) => [kind, name]));
  expect(ends).toEqual([[["port", "port:2"]], [["qp", qp.label]]]);
  expect(ibv_poll_cq(station.cq, 4).length).toBe(1);
});
