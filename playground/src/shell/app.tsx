/** The page: three panes, the totals below, and a bar above. */
import type { JSX } from "preact";
import { Answers } from "../answers/answers.js";
import { Frames } from "../frames/frames.js";
import { Notices } from "../parts/notices.js";
import { RulesPane } from "../rules/rulesPane.js";
import { Way } from "../way/way.js";

export function App(): JSX.Element {
  return (
    <div class="app">
      <header class="bar">
        <h1>flowsteer</h1>
      </header>
      <Notices />
      <RulesPane />
      <Frames />
      <Way />
      <Answers />
    </div>
  );
}
