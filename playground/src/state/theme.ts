/** Light or dark: as the system has it, or as the person chose. `early.ts` sets it before the first paint. */
import { effect, signal } from "@preact/signals";
import { recall, remember } from "./remembered.js";

export type Theme = "system" | "light" | "dark";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const KEY = "theme";
const kept = recall(KEY);

export const theme = signal<Theme>(THEMES.find((one) => one === kept) ?? "system");

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === "system") delete dataset.theme;
  else dataset.theme = theme.value;
  remember(KEY, theme.value === "system" ? null : theme.value);
});
