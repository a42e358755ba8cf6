/** 1 in the traced core, else 0 (asconfig.json; branch/events.ts). */
declare const TRACED: i32;
