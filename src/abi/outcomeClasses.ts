/**
 * Outcome classes: the equal part of the outcomes of many frames, and sums over the frames of each
 * class (assembly/out/outcomeClasses.ts). An area of zeros is an empty table:
 *
 *     | classes 4 | rows of the batch that are summed 4 | words used 4 | 0 4 | slots | number of each row 2 | classes | words |
 */
export const CLASSES_COUNT = 0;
export const CLASSES_SUMMED = 4;
export const CLASSES_USED = 8;
/**
 * Hash table of class numbers + 1, 2 bytes each; 0 is empty. Its size is a power of two, four times
 * the number of classes, so that probes stay short.
 */
export const CLASS_SLOTS = 16384;
export const MAX_CLASSES = 4096;
export const CLASSES_SLOTS = 16;
/** The table is empty when the bytes up to here are 0. */
export const CLASSES_NUMBERS = CLASSES_SLOTS + 2 * CLASS_SLOTS;
/** MAX_BATCH numbers. */
export const CLASSES_RECORDS = CLASSES_NUMBERS + 2 * 256;

/**
 * A class: | frames 8 | their bytes on the wire 8 | first row of the batch with this class 4 | hash
 * 4 | first of its words 4 | words 4 |
 */
export const CLASS_FRAMES = 0;
export const CLASS_BYTES = 8;
export const CLASS_ROW = 16;
export const CLASS_HASH = 20;
export const CLASS_FIRST = 24;
export const CLASS_WORDS = 28;
export const CLASS_SIZE = 32;

export const CLASSES_WORDS = CLASSES_RECORDS + MAX_CLASSES * CLASS_SIZE;
/** Words of all classes: most have 8, the longest less than 600. */
export const MAX_CLASS_WORDS = 131072;
export const CLASSES_SIZE = CLASSES_WORDS + 4 * MAX_CLASS_WORDS;
