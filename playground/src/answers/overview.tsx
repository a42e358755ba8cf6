/** Verdicts over time and conversations, which are looked for while the totals are open. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Answer, Conversation, Survey } from "../engine/api.js";
import { engine } from "../engine/client.js";
import { VERDICTS } from "../engine/verdicts.js";
import { countText } from "../parts/format.js";
import { filter } from "../state/selection.js";
import { working } from "../state/working.js";
import { Bars } from "./bars.js";
import { Chart } from "./meters.js";

export function Overview({ all }: { readonly all: Answer }): JSX.Element | null {
  const [survey, setSurvey] = useState<Survey | null>(null);
  useEffect(() => {
    let gone = false;
    void working((progress) => engine().survey(progress)).then((found) => {
      if (!gone && found !== null) setSurvey(found);
    });
    return () => {
      gone = true;
    };
  }, [all]);
  if (survey === null || all.frames === 0) return null;
  const { conversations, verdicts } = survey;
  return (
    <>
      {verdicts !== null && (
        <section class="meters" aria-labelledby="totals-over-time">
          <h3 id="totals-over-time">Verdicts over time</h3>
          <Chart series={verdicts} what="all frames" onShow={showInterval} />
        </section>
      )}
      <Bars id="totals-conversations" title="Conversations" bars={conversations.map(barOf)} whole={all.frames} />
    </>
  );
}

/** Intervals end with their last instant, as the engine counts them; the first has its beginning too. */
function showInterval(from: number, to: number): void {
  const since = from === 0 ? ">= 0" : `> ${from}`;
  filter.value = { fields: `frame.time_relative ${since} && frame.time_relative <= ${to}` };
}

function barOf({ text, filter: fields, frames, bytes, verdicts }: Conversation) {
  const found = VERDICTS.flatMap((verdict) => {
    const count = verdicts[verdict] ?? 0;
    return count === 0 ? [] : [{ verdict, count }];
  });
  const [most] = [...found].sort((a, b) => b.count - a.count);
  return {
    id: text,
    label: text,
    tone: most?.verdict ?? "",
    frames,
    bytes,
    filter: { fields },
    text: found.map(({ verdict, count }) => `${verdict} ${countText(count)}`).join(", "),
  };
}
