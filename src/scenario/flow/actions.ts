/** Makes the flow actions of a scenario, for each function and direction whose flows use them. */
import type { Context } from "../../model/base/context.js";
import { DOMAIN_TYPES, type DomainType } from "../../model/base/domainType.js";
import { EspAction } from "../../model/esp/action.js";
import type { EspRequest } from "../../model/esp/request.js";
import { ModifyHeaderAction, PacketReformatAction, type FlowAction } from "../../model/action/flowAction.js";
import type { ScenarioFlowAction } from "../action/definition.js";
import { reformatPlace } from "../action/load.js";
import { espPlace, espRequest } from "../esp/load.js";
import type { ScenarioEsp } from "../esp/definition.js";
import { reformatOf } from "../action/headerBytes.js";
import { headerChanges } from "../action/headerChanges.js";
import { at } from "../place.js";
import { attemptEach, made, type Report } from "../report.js";
import { below } from "../schema/path.js";

/** Refuses malformed actions even where no flow uses them. An action is made again from the document where one does. */
export class ScenarioFlowActions {
  /** The places in the document of those that are well formed. */
  readonly #places = new Map<string, number>();
  /** By function, direction and name. */
  readonly made: Map<string, FlowAction>;

  /** @param saved the actions that a snapshot has */
  constructor(
    private readonly actions: readonly ScenarioFlowAction[],
    report: Report,
    saved: Map<string, FlowAction> = new Map(),
  ) {
    this.made = saved;
    attemptEach(report, "flowActions", actions, (action, path, i) => {
      makerOf(path, action);
      this.#places.set(action.name, i);
    });
  }

  /** The action of a name, for flows of a context in one direction. */
  get(name: string, context: Context, type: DomainType): FlowAction {
    const key = `${context.function.vport} ${type} ${name}`;
    let action = this.made.get(key);
    if (action === undefined) {
      const place = made(this.#places, name);
      const make = makerOf(below("flowActions", place), this.actions[place] as ScenarioFlowAction);
      this.made.set(key, (action = make(context, type).called(name)));
    }
    return action;
  }
}

function makerOf(
  path: string,
  { modify, reformat = { type: "l2_tunnel_to_l2" }, esp }: ScenarioFlowAction,
): (context: Context, type: DomainType) => FlowAction {
  if (esp !== undefined) return espMaker(`${path}.esp`, esp);
  const tableType = (type: DomainType): number => DOMAIN_TYPES.indexOf(type);
  if (modify !== undefined) {
    const { actions, placeOf } = headerChanges(`${path}.modify`, modify);
    return (context, type) =>
      at(`${path}.modify`, () => ModifyHeaderAction.create(context, undefined, actions, tableType(type)), placeOf);
  }
  const { type: number, data } = reformatOf(`${path}.reformat`, reformat);
  return (context, type) =>
    at(
      `${path}.reformat`,
      () => PacketReformatAction.create(context, undefined, data, number, tableType(type)),
      (inner) => reformatPlace(inner, reformat.headers !== undefined),
    );
}

/** The direction of the action is that of the flow; else the flow is refused. */
function espMaker(path: string, esp: ScenarioEsp): (context: Context) => FlowAction {
  const request = (): EspRequest => espRequest(path, esp);
  request();
  return (context) => {
    const one = request();
    const make = (): EspAction => EspAction.create(context, one, esp.metadata);
    return at(path, make, (inner) => espPlace(inner, esp.encap));
  };
}
