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
