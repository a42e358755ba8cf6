/** The bar above: name, what is open, what is wrong with it, and actions. */
import type { JSX } from "preact";
import { Button, IconButton } from "../parts/button.js";
import { counted } from "../parts/format.js";
import { Menu } from "../parts/menu.js";
import { answer } from "../state/answer.js";
import { commands, type Command } from "../state/commands.js";
import { rulesName } from "../state/document.js";
import { findings } from "../state/findings.js";
import { theme, THEMES, type Theme } from "../state/theme.js";
import { narrow } from "../state/view.js";
import { showHelp, showPalette } from "./openView.js";

export function Bar(): JSX.Element {
  const inBar = commands.value.filter(({ bar }) => bar !== undefined);
  return (
    <header class="bar">
      <h1>flowsteer</h1>
      <p class="open-now">
        <span class="mono">{rulesName.value}</span>
        {answer.value?.capture && <span class="mono muted"> + {answer.value.capture.name}</span>}
      </p>
      <Health />
      <div class="bar-actions">{narrow.value ? <More all={inBar} /> : <Wide all={inBar} />}</div>
    </header>
  );
}

function Health(): JSX.Element | null {
  const errors = findings.value.filter(({ severity }) => severity === "error").length;
  const warnings = findings.value.filter(({ severity }) => severity === "warning").length;
  if (answer.value === null && errors === 0) return null;
  return (
    <p class="health" data-worst={errors > 0 ? "error" : warnings > 0 ? "warning" : undefined}>
      <span aria-hidden="true">{errors > 0 ? "✕" : warnings > 0 ? "▲" : "●"}</span> {counted(errors, "error")}
      {warnings > 0 && `, ${counted(warnings, "warning")}`}
    </p>
  );
}

function Wide({ all }: { readonly all: readonly Command[] }): JSX.Element {
  return (
    <>
      {all.map(({ id, bar = "", key, run }) => (
        <Button key={id} label={bar} class="quiet" {...(key === undefined ? {} : { keyHint: key })} onClick={run} />
      ))}
      <IconButton label="Search actions" keyHint="Ctrl+K" onClick={() => void showPalette()}>
        <path d="M7 3a4 4 0 1 0 0 8a4 4 0 0 0 0-8M10 10l4 4" />
      </IconButton>
      <Menu label="Theme" class="icon-button quiet" items={themeItems()}>
        <ThemeIcon />
      </Menu>
      <IconButton label="Help" keyHint="F1" onClick={() => void showHelp()}>
        <path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.2Q8 8.8 8 10M8 12.5v.5" />
      </IconButton>
    </>
  );
}

function More({ all }: { readonly all: readonly Command[] }): JSX.Element {
  const items = [
    ...all.map(({ bar = "", run }) => ({ title: bar, run })),
    { title: "Search actions", run: () => void showPalette() },
    ...themeItems(),
    { title: "Help", run: () => void showHelp() },
  ];
  return (
    <Menu label="Menu" class="icon-button quiet" items={items}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d="M2 4h12M2 8h12M2 12h12" />
      </svg>
    </Menu>
  );
}

const THEME_TITLES: Readonly<Record<Theme, string>> = {
  system: "System theme",
  light: "Light theme",
  dark: "Dark theme",
};

function themeItems(): { title: string; checked: boolean; run: () => void }[] {
  return THEMES.map((one) => ({
    title: THEME_TITLES[one],
    checked: theme.value === one,
    run: () => (theme.value = one),
  }));
}

function ThemeIcon(): JSX.Element {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d="M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11" />
      <path class="filled" d="M8 2.5a5.5 5.5 0 0 1 0 11z" />
    </svg>
  );
}
