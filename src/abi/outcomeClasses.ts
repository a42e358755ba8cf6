/**
 * Shapes: what outcomes of frames have in common, and sums over the frames of each (assembly/out/outcomeClasses.ts). The area, which is an empty
 * table where all of it is 0:
 *     | shapes 4 | rows of the batch that are summed 4 | words used 4 | 0 4 | slots | number of each row 2 | shapes | words |
 */
export const SHAPES_COUNT = 0;
export const SHAPES_SUMMED = 4;
export const SHAPES_USED = 8;
/** Number + 1 by hash, 2 bytes each; 0 where there is none. A power of two, four times as many as shapes: chains stay short. */
export const SHAPE_SLOTS = 16384;
export const MOST_SHAPES = 4096;
export const SHAPES_SLOTS = 16;
/** Up to here 0 is an empty table. */
export const SHAPES_NUMBERS = SHAPES_SLOTS + 2 * SHAPE_SLOTS;
/** MAX_BATCH numbers. */
export const SHAPES_RECORDS = SHAPES_NUMBERS + 2 * 256;

/** A shape: | frames 8 | their bytes on the wire 8 | row of the batch in which it came up 4 | hash 4 | first of its words 4 | words 4 | */
export const SHAPE_FRAMES = 0;
export const SHAPE_BYTES = 8;
export const SHAPE_ROW = 16;
export const SHAPE_HASH = 20;
export const SHAPE_FIRST = 24;
export const SHAPE_WORDS = 28;
export const SHAPE_SIZE = 32;

export const SHAPES_WORDS = SHAPES_RECORDS + MOST_SHAPES * SHAPE_SIZE;
/** Words of all shapes: of most 8, of the longest less than 600. */
export const WORDS_OF_SHAPES = 131072;
export const SHAPES_SIZE = SHAPES_WORDS + 4 * WORDS_OF_SHAPES;
