/** Stateful actions of a scenario: ASO actions, flow meters, samplers. */
import { AsoAction, FlowMeterAction, linkAso } from "../../model/action/asoActions.js";
import type { Action } from "../../model/action/action.js";
import type { AsoObject } from "../../model/action/asoObject.js";
import type { Domain, Table } from "../../model/table/domain.js";
import { samplerAction } from "../../model/action/sampler.js";
import { headerChanges } from "../action/headerChanges.js";
import { meterParameters } from "./meters.js";
import { at, type PlaceOf } from "../place.js";
import {
  ASO_FLAGS,
  type ScenarioAsoChoice,
  type ScenarioAsoAction,
  type ScenarioFlowMeter,
  type ScenarioFlowSampler,
} from "./definition.js";
import { below } from "../schema/path.js";

/** The model's value for a choice of the document. */
export function choiceOf({ offset = 0, flags, return_reg_c }: ScenarioAsoChoice): {
  offset: number;
  flags: number;
  register: number;
} {
  return { offset, flags: flags === undefined ? 0 : ASO_FLAGS[flags], register: return_reg_c };
}

const PLACES: Readonly<Record<string, string>> = {
  domain: "",
  devx_obj: ".object",
  dmn: ".peer_dmn",
  peer_dmn: ".peer_dmn",
};
const asoPlace: PlaceOf = (inner) => `.aso${PLACES[inner] ?? `.${inner}`}`;

/**
 * The action for a rule of `domain`, made in `home`. Where these differ, the object is linked once.
 */
export function asoAction(
  path: string,
  written: ScenarioAsoAction,
  object: AsoObject,
  domain: Domain,
  home: Domain,
): AsoAction {
  const choice = choiceOf(written);
  const action = at(path, () => AsoAction.create(home, object, choice), asoPlace);
  if (home !== domain && !object.links.has(domain)) {
    at(path, () => linkAso(object, home, domain, choice.flags, choice.register), asoPlace);
  }
  return action;
}

/** mlx5dv_dr_action_modify_aso, before a rule is made. */
export function modifyAso(path: string, action: Action, choice: ScenarioAsoChoice): void {
  if (!(action instanceof AsoAction)) throw new Error(`loadScenario: ${path} names no ASO action`);
  at(`${path}.modify_aso`, () => action.modify(choiceOf(choice)));
}

export function flowMeterAction(path: string, written: ScenarioFlowMeter, next: Table): FlowMeterAction {
  const { reg_c_index, active } = written;
  const flow_meter_parameter = meterParameters(written);
  const attr = { next_table: next, reg_c_index, active, flow_meter_parameter };
  return at(
    path,
    () => FlowMeterAction.create(attr),
    (inner) => inner.replace(/^attr/, ".flow_meter"),
  );
}

export function flowSamplerAction(
  path: string,
  { sample_ratio, action }: ScenarioFlowSampler,
  next: Table,
  sample_actions: readonly Action[],
): Action {
  const place: PlaceOf = (inner) => `.flow_sampler.action${inner.replace("[0]", "")}`;
  const changes = action === undefined ? undefined : at(path, () => headerChanges("", [action]).actions, place);
  const attr = { sample_ratio, default_next_table: next, sample_actions, action: changes };
  return at(path, () => samplerAction(attr), samplerPlace);
}

const samplerPlace: PlaceOf = (inner) => {
  if (inner === "actions" || /^actions\[/.test(inner)) return ".flow_sampler.action";
  const [, number] = /^attr\.sample_actions\[(\d+)\]/.exec(inner) ?? [];
  if (number !== undefined) return below(".flow_sampler.sample_actions", Number(number));
  return inner.replace(/^attr/, ".flow_sampler");
};
