/** Runs before the first paint: theme and places of the dividers, so that nothing jumps when the page starts. */
import { recall } from "../state/remembered.js";
import { setSplits } from "./splits.js";

const theme = recall("theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
setSplits();
