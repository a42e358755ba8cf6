/** What a scenario has beside the rules that a text of another program says: frames, and settings of the device. */
import type { Scenario } from "flowsteer/scenario";

type Json = Readonly<Record<string, unknown>>;

/** Keys of a scenario that are no rules. */
const ADDED = new Set(["title", "description", "device", "frames", "expect"]);

/**
 * The additions after a change of the scenario.
 * @param into those of before; null for none
 * @param before the scenario with them, as text
 * @returns null if the change is one of what the text says
 */
export function addedBy(into: Scenario | null, before: string, after: string): Scenario | null {
  const [old, now] = [objectOf(before), objectOf(after)];
  if (old === null || now === null) return null;
  const changed = keysChanged(old, now);
  if (changed.some((key) => !ADDED.has(key))) return null;
  const own: Json = { flowsteer: 1, ...into };
  const made = changed.map((key) => [
    key,
    key === "frames" ? framesAdded(own, old, now) : merged(own[key], old[key], now[key]),
  ]);
  return { ...own, ...Object.fromEntries(made) } as Scenario;
}

/** The frames without those that the text says, which come after the added ones. */
function framesAdded(own: Json, old: Json, now: Json): unknown {
  const listOf = (of: Json): readonly unknown[] => (Array.isArray(of["frames"]) ? of["frames"] : []);
  const said = listOf(old)
    .slice(listOf(own).length)
    .map((frame) => JSON.stringify(frame));
  const left = listOf(now).filter((frame) => {
    const at = said.indexOf(JSON.stringify(frame));
    if (at >= 0) said.splice(at, 1);
    return at < 0;
  });
  return left.length === 0 ? undefined : left;
}

/** What is added of a value: of an object, the keys that changed. */
function merged(own: unknown, old: unknown, now: unknown): unknown {
  if (!isObject(now)) return now;
  const [before, mine] = [isObject(old) ? old : {}, isObject(own) ? own : {}];
  const made = keysChanged(before, now).map((key) => [key, merged(mine[key], before[key], now[key])]);
  return { ...mine, ...Object.fromEntries(made) };
}

function keysChanged(old: Json, now: Json): string[] {
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys].filter((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]));
}

function objectOf(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
