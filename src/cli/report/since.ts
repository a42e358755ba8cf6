/** Which earlier frame left the numbers of a connection that a frame failed a check against. */
import type { Explanation, FailedCheck, Trace } from "../../explain/index.js";
import { connectionAt, type LoadedScenario } from "../../scenario/index.js";

const SIDES = ["original", "reply"] as const;

interface Held {
  readonly value: number;
  /** The frame after which it was first seen; 0 for the contents of the document. */
  readonly frame: number;
}

/** The failed checks that an explanation has, by the name of the connection. */
export function failedByConnection(
  explanation: Explanation,
  { steps }: Trace,
): ReadonlyMap<string, readonly FailedCheck[]> {
  const text = JSON.stringify(explanation);
  const checks = new Map<string, readonly FailedCheck[]>();
  for (const step of steps) {
    if (step.kind !== "action" || step.action !== "track") continue;
    const said = (step.failed ?? []).filter(({ sentence }) => text.includes(sentence));
    const [connection] = step.state;
    if (connection !== undefined && said.length > 0) checks.set(connection.name, said);
  }
  return checks;
}

/** Watches connections while the earlier frames are steered again. */
export class ConnectionWatch {
  readonly #connections: readonly { readonly name: string; readonly read: () => ReturnType<typeof connectionAt> }[];
  /** By connection, side and field. */
  readonly #held = new Map<string, Held>();

  constructor({ asoObjects }: LoadedScenario, names: Iterable<string>) {
    this.#connections = [...names].flatMap((name) => {
      const [, bulk = name, index = "0"] = asoObjects.has(name) ? [] : (/^(.*)\[(\d+)\]$/s.exec(name) ?? []);
      const object = asoObjects.get(bulk);
      return object === undefined ? [] : [{ name, read: () => connectionAt(object, Number(index)) }];
    });
    this.after(0);
  }

  /** A frame has been steered. */
  after(frame: number): void {
    for (const { name, read } of this.#connections) {
      const connection = read();
      for (const side of SIDES) {
        for (const [field, value] of Object.entries(connection[side] ?? {})) {
          const key = `${name} ${side} ${field}`;
          if (typeof value === "number" && this.#held.get(key)?.value !== value) this.#held.set(key, { value, frame });
        }
      }
    }
  }

  /** "1501 since frame 3": each number that a frame left, where both sides do not hold it. */
  sinceText(name: string, { numbers }: FailedCheck): string {
    const texts = Object.entries(numbers).flatMap(([field, value]) => {
      const held = SIDES.flatMap((side) => this.#held.get(`${name} ${side} ${field}`) ?? []);
      const [own, ...others] = held.filter((one) => String(one.value) === value);
      return own === undefined || others.length > 0 || own.frame === 0 ? [] : `${value} since frame ${own.frame}`;
    });
    return texts.join(", ");
  }
}

/** The explanation with the frames that left the numbers, wherever it has the sentence of a check. */
export function withFrames(
  explanation: Explanation,
  checks: ReadonlyMap<string, readonly FailedCheck[]>,
  watch: ConnectionWatch,
): Explanation {
  const longer = [...checks].flatMap(([name, failed]) =>
    failed.flatMap((check): [string, string][] => {
      const since = watch.sinceText(name, check);
      return since === "" ? [] : [[check.sentence, `${check.sentence} (${since})`]];
    }),
  );
  if (longer.length === 0) return explanation;
  const withFrame = (text: string): string => longer.reduce((sum, [one, more]) => sum.replaceAll(one, more), text);
  return withTexts(explanation, withFrame);
}

/** Plain data with each of its texts changed. */
function withTexts<T>(data: T, change: (text: string) => string): T {
  const changed = (value: unknown): unknown => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map(changed);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, changed(one)]));
  };
  return changed(data) as T;
}
