/** ESP associations that put the security of others at risk. */
import { FlowEntry } from "../../../model/flow/entry.js";
import { isEspAction } from "../../../model/flow/kinds.js";
import type { EspAction } from "../../../model/esp/action.js";
import type { FindingObject } from "../../answer.js";
import type { LintContext } from "../context.js";
import type { LintDetector } from "../detector.js";
import { called, mentioned, namedObject } from "../objects.js";

/** The associations of all flows, oldest flow first. */
function associations({ device }: LintContext): ReadonlySet<EspAction> {
  const found = new Set<EspAction>();
  for (const one of device.installed) {
    if (one instanceof FlowEntry) for (const action of one.actions) if (isEspAction(action)) found.add(action);
  }
  return found;
}

export const ESP: readonly LintDetector[] = [
  {
    id: "esp-shared-iv",
    severity: "error",
    *detect(context) {
      const owners = new Map<string, FindingObject>();
      for (const action of associations(context)) {
        const { nonceSpace } = action;
        if (nonceSpace === "") continue;
        const object = namedObject("flow action", action);
        const other = owners.get(nonceSpace);
        if (other === undefined) owners.set(nonceSpace, object);
        else {
          yield {
            objects: [object, other],
            sentence: `${called(object)} seals with the same key and salt as ${mentioned(other)}, and each counts its own IVs. AES-GCM is broken once two packets have the same key, salt and IV (RFC 4106, section 3.1). Give each association its own key.`,
          };
        }
      }
    },
  },
];
