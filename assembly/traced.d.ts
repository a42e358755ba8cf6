/** 1 in the traced core (asconfig.json); sources of other cores lose its statements (scripts/untraced.mjs). */
declare const TRACED: i32;
