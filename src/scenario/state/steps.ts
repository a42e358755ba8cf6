/** Changes that a document makes between frames: meters, and data of ASO objects. */
import { inCall } from "../../errors.js";
import type { AsoObject } from "../../model/action/asoObject.js";
import type { ScenarioActions } from "../action/load.js";
import { asoData } from "./asoObjects.js";
import { meterParameters, selected } from "./meters.js";
import type { ScenarioStep } from "./definition.js";

export class Steps {
  readonly #actions: ScenarioActions;
  readonly #objects: ReadonlyMap<string, AsoObject>;

  constructor(actions: ScenarioActions, objects: ReadonlyMap<string, AsoObject>) {
    this.#actions = actions;
    this.#objects = objects;
  }

  /** Runs a checked step of the document. */
  take(path: string, step: ScenarioStep): void {
    inCall("loadScenario", () => {
      const { modify_flow_meter, modify_aso_object = "", index = 0 } = step;
      if (modify_flow_meter === undefined) {
        this.#objects.get(modify_aso_object)?.write(index, asoData(path, step));
        return;
      }
      const meter = this.#actions.flowMeter(modify_flow_meter);
      const flow_meter_parameter = meterParameters({ ...meter?.written, ...step });
      meter?.action.modify({ active: step.active, flow_meter_parameter }, selected(step));
    });
  }
}
