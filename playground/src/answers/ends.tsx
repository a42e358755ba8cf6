/** Where frames ended: destinations, copies, reasons. */
import type { JSX } from "preact";
import type { Totals } from "../engine/api.js";
import { CopyShape, SHAPES } from "../parts/verdict.js";
import { Bars } from "./bars.js";
import { REASON_TEXTS } from "./reasons.js";

export function Ends({ totals }: { readonly totals: Totals }): JSX.Element {
  const { destinations, copies, reasons, frames } = totals;
  return (
    <>
      <Bars
        id="totals-destinations"
        title="Destinations"
        whole={frames}
        bars={destinations.map((end) => ({
          ...end,
          id: end.to,
          label: <code>{end.to}</code>,
          tone: end.to.startsWith("port:") ? "transmit" : "deliver",
          filter: { to: end.to },
        }))}
      />
      <Bars
        id="totals-copies"
        title="Copies"
        whole={frames}
        bars={copies.map((end) => ({
          ...end,
          id: end.to,
          label: (
            <>
              <CopyShape /> <code>{end.to}</code>
            </>
          ),
          tone: "copy",
          filter: { to: end.to },
        }))}
      />
      <Bars
        id="totals-reasons"
        title="Reasons"
        whole={frames}
        bars={reasons.flatMap(({ verdict, reason, ...sum }) =>
          reason === null
            ? []
            : [
                {
                  ...sum,
                  id: `${verdict} ${reason}`,
                  label: (
                    <>
                      <span aria-hidden="true">{SHAPES[verdict]}</span> {verdict} <code>{reason}</code>
                    </>
                  ),
                  tone: verdict,
                  filter: { reason, verdicts: [verdict] },
                  text: REASON_TEXTS[reason],
                },
              ],
        )}
      />
    </>
  );
}
