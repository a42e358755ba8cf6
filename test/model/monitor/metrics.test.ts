/** Metrics as plain data and as text for Prometheus (docs/metrics.md; text exposition format 0.0.4). */
import { expect, test } from "vitest";
import { prometheusText } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { ipv4Frame, openBench } from "../../mlx5dv/support/directRules.js";
import { ruleFor } from "../../mlx5dv/support/switchBench.js";

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const SAMPLE = new RegExp(
  `^(${NAME})\\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*",?)*)\\} (-?[0-9.e+-]+)$`,
);

/** The samples of a text, by name and labels. It fails on lines that the format does not have. */
function parsed(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  let family = "";
  const families = new Set<string>();
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    const help = new RegExp(`^# HELP (${NAME}) .+$`).exec(line)?.[1];
    if (help !== undefined) {
      expect(families).not.toContain(help);
      families.add((family = help));
      continue;
    }
    if (new RegExp(`^# TYPE ${family} (counter|gauge)$`).test(line)) continue;
    const [, name, labels, value] = SAMPLE.exec(line) ?? [line];
    expect(name).toBe(family);
    const key = `${name}{${labels}}`;
    expect(samples.has(key)).toBe(false);
    samples.set(key, Number(value));
  }
  return samples;
}

test("reasons, cache, memory, rules and hits", async () => {
  const { device, root, queue } = await openBench({ name: 'a "nic"\\', countHits: true });
  device.advance(1_500_000_000n);
  ruleFor(root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]).called("web\nrule");
  device.receiveBatch(1, [ipv4Frame(), ipv4Frame(), ipv4Frame({ dport: 22 })]);
  const metrics = device.metrics();
  expect(metrics).toMatchObject({ device: device.name, time: 1_500_000_000n, rules: 1 });
  expect(metrics.reasons.no_rule).toBe(1n);
  expect(metrics.memory.used).toBe(device.memoryUsed);
  expect(metrics.memory.core).toBeGreaterThan(metrics.memory.used);
  expect(metrics.hits!.tables).toEqual([
    { table: "root", domain: "nic_rx", vport: 0, rules: 1, packets: 2n, bytes: 128n },
  ]);

  const samples = parsed(prometheusText(metrics));
  const of = 'device="a \\"nic\\"\\\\"';
  const rule = `${of},rule="web\\nrule",id="0",table="root"`;
  expect(samples.get(`flowsteer_clock_seconds{${of}}`)).toBe(1.5);
  expect(samples.get(`flowsteer_reason_frames_total{${of},reason="no_rule"}`)).toBe(1);
  expect(samples.get(`flowsteer_rule_packets_total{${rule}}`)).toBe(2);
  expect(samples.get(`flowsteer_rule_bytes_total{${rule}}`)).toBe(128);
  expect(samples.get(`flowsteer_port_received_packets_total{${of},port="1"}`)).toBe(3);
  expect(samples.get(`flowsteer_port_dropped_packets_total{${of},port="1"}`)).toBe(1);
  expect(samples.get(`flowsteer_queue_packets_total{${of},queue="qp:web"}`)).toBe(2);
  expect(samples.get(`flowsteer_rules{${of}}`)).toBe(1);
});

test("several devices are in one text, metric by metric", async () => {
  const [a, b] = [(await openBench({ name: "a" })).device, (await openBench({ name: "b", countHits: true })).device];
  const samples = parsed(prometheusText([a.metrics(), b.metrics()]));
  expect(samples.get('flowsteer_rules{device="a"}')).toBe(0);
  expect(samples.get('flowsteer_rules{device="b"}')).toBe(0);
  expect(samples.has('flowsteer_port_received_packets_total{device="a",port="1"}')).toBe(false);
  expect(samples.get('flowsteer_port_received_packets_total{device="b",port="1"}')).toBe(0);
  expect(() => prometheusText({} as never)).toThrow(TypeError);
});
