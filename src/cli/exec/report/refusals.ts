/** Refused calls of programs: each sentence is printed once for each place, and counted. */
import { printable, type Paint } from "../../text.js";
import type { RefusedSum } from "./execLines.js";
import type { RefusedCall } from "./reports.js";
import { callerOf, keyOf, placeText, type SourcePlace, type WhereCalled } from "./whereCalled.js";

/** A refusal with its place. */
export interface PlacedRefusal extends RefusedCall {
  readonly place: SourcePlace | null;
}

export class Refusals {
  readonly #where: Pick<WhereCalled, "of">;
  readonly #report: (refusal: PlacedRefusal) => void;
  readonly #times = new Map<string, number>();
  readonly #printed: { readonly key: string; readonly refusal: PlacedRefusal }[] = [];
  /** The reports so far, in the order of the calls. */
  #reported: Promise<void> = Promise.resolve();

  /** @param report called once for each sentence and place */
  constructor(where: Pick<WhereCalled, "of">, report: (refusal: PlacedRefusal) => void) {
    this.#where = where;
    this.#report = report;
  }

  add(refused: RefusedCall): void {
    const { call, code, message, callers } = refused;
    const caller = callerOf(callers);
    const key = JSON.stringify([call, code, message, caller === null ? "" : keyOf(caller)]);
    const times = this.#times.get(key) ?? 0;
    this.#times.set(key, times + 1);
    if (times > 0) return;
    const place = this.#where.of(callers);
    this.#reported = this.#reported.then(async () => {
      const refusal = { ...refused, place: await place };
      this.#printed.push({ key, refusal });
      this.#report(refusal);
    });
  }

  /** Waits for the reports. @returns how often each sentence was given */
  async end(): Promise<RefusedSum[]> {
    await this.#reported;
    return this.#printed.map(({ key, refusal: { call, code, message, place } }) => {
      return { call, code, message, place, times: this.#times.get(key) ?? 0 };
    });
  }
}

/** `main.c:88 mlx5dv_dr_matcher_create: EINVAL: mask.outer.tcp_dport: ...` */
export function refusalText(paint: Paint, { call, code, message, place }: Omit<RefusedSum, "times">): string {
  // Messages have the call first, and the code after the rule.
  const text = message.replace(`${call}: `, "").replace(` (${code})`, "");
  return `${calledText(paint, { call, place })}: ${paint(["red", "bold"], code)}: ${printable(text)}\n`;
}

/** `main.c:88 ibv_create_flow` */
export function calledText(paint: Paint, { call, place }: Pick<RefusedSum, "call" | "place">): string {
  return place === null ? call : `${paint("bold", printable(placeText(place)))} ${call}`;
}
