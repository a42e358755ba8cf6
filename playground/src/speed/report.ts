/** A result as text: for a post, and for programs. */
import type { Figure } from "./measure.js";

export interface SpeedReport {
  readonly date: string;
  readonly version: string;
  readonly machine: Machine;
  readonly figures: readonly Figure[];
}

export interface Machine {
  readonly browser: string;
  readonly platform: string;
  readonly cores: number;
  /** In gigabytes, as the browser says it; null where it does not. */
  readonly memory: number | null;
  /** The smallest step of the clock, in microseconds. */
  readonly clockStep: number;
}

/** What the browser says about itself. */
export function machineOf(agent: Navigator, clockStep: number): Machine {
  const { userAgentData, deviceMemory } = agent as Navigator & {
    readonly userAgentData?: {
      readonly platform: string;
      readonly brands: readonly { brand: string; version: string }[];
    };
    readonly deviceMemory?: number;
  };
  const brand = userAgentData?.brands.find(({ brand: name }) => !/not.?a.?brand|^chromium$/i.test(name));
  const chromium = userAgentData?.brands.find(({ brand: name }) => name === "Chromium");
  const named = brand ?? chromium;
  return {
    browser: named === undefined ? agent.userAgent : `${named.brand} ${named.version}`,
    platform: userAgentData?.platform ?? agent.platform,
    cores: agent.hardwareConcurrency,
    memory: deviceMemory ?? null,
    clockStep,
  };
}

export function machineText({ browser, platform, cores, memory, clockStep }: Machine): string {
  const room = memory === null ? "" : `, at least ${memory} GB of memory`;
  return `${browser}, ${platform}, ${cores} cores${room}; the clock has steps of ${clockStep.toFixed(clockStep < 10 ? 1 : 0)} µs`;
}

/** A table in Markdown. */
export function markdown({ date, version, machine, figures }: SpeedReport): string {
  const rows = figures.map(
    ({ suite, workload, unit, name, nanoseconds, ratio, spread }) =>
      `| ${suite} | ${workload} | ${name} | ${nanosecondsText(nanoseconds)} / ${unit} | ${ratio === null ? "" : ratioText(ratio)} | ${spread === null ? "" : spreadText(spread)} |`,
  );
  return [
    `flowsteer ${version}, ${date}, ${machineText(machine)}`,
    "",
    "| suite | workload | case | time | times plain JavaScript | rounds |",
    "| --- | --- | --- | ---: | ---: | ---: |",
    ...rows,
    "",
  ].join("\n");
}

export function nanosecondsText(nanoseconds: number): string {
  return nanoseconds < 1000
    ? `${nanoseconds.toFixed(nanoseconds < 100 ? 1 : 0)} ns`
    : `${(nanoseconds / 1000).toFixed(nanoseconds < 100_000 ? 2 : 0)} µs`;
}

export function ratioText(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 2 : 1)} x`;
}

export function spreadText([least, greatest]: readonly [number, number]): string {
  return `${least.toFixed(1)} to ${greatest.toFixed(1)}`;
}
