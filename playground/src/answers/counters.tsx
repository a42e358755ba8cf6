/** The counters of the rules. */
import type { JSX } from "preact";
import type { Totals } from "../engine/api.js";
import { countText } from "../parts/format.js";
import { Limited } from "./limited.js";

export function Counters({ counters }: Pick<Totals, "counters">): JSX.Element | null {
  if (counters.length === 0) return null;
  return (
    <section aria-labelledby="totals-counters">
      <h3 id="totals-counters">Counters</h3>
      <Limited
        items={counters}
        noun="counter"
        list={(some) => (
          <table aria-labelledby="totals-counters">
            <thead>
              <tr>
                <th scope="col">Counter</th>
                <th scope="col" class="number">
                  Packets
                </th>
                <th scope="col" class="number">
                  Bytes
                </th>
              </tr>
            </thead>
            <tbody>
              {some.map(({ name, packets, bytes }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="number">{countText(packets)}</td>
                  <td class="number">{countText(bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      />
    </section>
  );
}
