/** Meters of flows: objects of the device that flows share, and the register that has their colour. */
import type { Draft } from "../../../reading/draft.js";
import { NotImported } from "../../../text/refusal.js";
import type { Meter } from "../meters.js";
import type { Places } from "../places.js";
import type { FlowSegment } from "../segment.js";
import { type Act } from "../steps.js";
import { COLOUR, register, type Ask } from "../../fields.js";
import type { Report } from "./report.js";

export class Metering {
  constructor(
    private readonly draft: Draft,
    private readonly meters: ReadonlyMap<string, Meter>,
    private readonly places: Places,
    private readonly report: Report,
  ) {}

  /** Adds the meter to a rule. @returns what red frames have; undefined if the rule lacks the meter */
  add({ id, place }: Extract<Act, { kind: "meter" }>, segment: FlowSegment, rule: string): Ask | undefined {
    const meter = this.meters.get(id);
    if (meter === undefined) {
      const reason = "the text does not define the rates of this meter: add what ovs-ofctl dump-meters prints";
      this.report.lacks(segment, rule, place, `meter:${id}`, reason);
      return undefined;
    }
    try {
      const field = this.places.field(register(COLOUR), "outer", place);
      const object = this.draft.once("asoObjects", { name: `meter ${id}`, flow_meter: meter.rates });
      segment.meter(object, Number(field.slice(-1)));
      return { field, value: 0n, mask: 0xffn };
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      this.report.lacks(segment, rule, place, `meter:${id}`, error.reason);
      return undefined;
    }
  }
}
