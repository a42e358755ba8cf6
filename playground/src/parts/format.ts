/** Numbers as people read them. */

const COUNT = new Intl.NumberFormat("en");

/** `2,588,514`. */
export function countText(count: number): string {
  return COUNT.format(count);
}

const UNITS = ["bytes", "kB", "MB", "GB"] as const;

/** `86 bytes`, `1.2 MB`: decimal units. */
export function bytesText(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? countText(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1 frame`, `3 frames`. */
export function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const MIN = 0.01;

/** `83 %`: a part of a whole. Only nothing is 0 % and only everything is 100 %. */
export function shareText(part: number, whole: number): string {
  if (part === 0 || whole === 0) return "0 %";
  if (part >= whole) return "100 %";
  const percent = (100 * part) / whole;
  if (percent < MIN) return `< ${MIN} %`;
  if (percent > 100 - MIN) return `> ${100 - MIN} %`;
  const digits = percent < 1 || percent > 99 ? 2 : 0;
  return `${Number(percent.toFixed(digits))} %`;
}

/** The shares of parts that are the whole together: whole percents add up to 100, rounded up where most is cut off. */
export function sharesText(parts: readonly number[], whole: number): string[] {
  const percents = parts.map((part) => (whole === 0 ? 0 : (100 * part) / whole));
  if (percents.some((one) => one !== 0 && (one < 1 || one > 99))) return parts.map((part) => shareText(part, whole));
  const rounded = percents.map(Math.floor);
  const left = Math.round(percents.reduce((sum, one) => sum + one, 0)) - rounded.reduce((sum, one) => sum + one, 0);
  const cut = (at: number): number => (percents[at] ?? 0) % 1;
  const raised = new Set([...parts.keys()].sort((a, b) => cut(b) - cut(a)).slice(0, left));
  return rounded.map((percent, at) => `${percent + Number(raised.has(at))} %`);
}

/** `4 ms`, `1.3 s`. */
export function tookText(milliseconds: number): string {
  if (milliseconds < 1) return "under 1 ms";
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Seconds as people read them: `512 µs`, `1.5 s`. */
export function timeText(seconds: number): string {
  if (seconds === 0) return "0 s";
  const [unit, scale] = seconds < 1e-3 ? ["µs", 1e6] : seconds < 1 ? ["ms", 1e3] : ["s", 1];
  return `${Number((seconds * scale).toPrecision(4))} ${unit}`;
}
