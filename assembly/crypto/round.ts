/**
 * One round of AES on eight blocks at once (FIPS 197, section 5.1), on a state in planes (planes.ts).
 *
 * SubBytes is a circuit of 128 gates, 16 deep: Boyar and Peralta, "A depth-16 circuit for the AES S-box" (IACR ePrint
 * 2011/332). The constant 0x63 that the S-box adds is in the round keys instead: it is the same in every byte, so neither
 * ShiftRows nor MixColumns changes it.
 *
 * ShiftRows is never done: `turn` and `half` find the bytes of a column where k rounds without it have left them
 * ("fixslicing", Adomnicai and Peyrin, TCHES 2021/1).
 */

/** The next row's byte of the same column, after rounds without ShiftRows as many as the number says, modulo 4. */
export const TURN_0: v128 = i8x16(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3);
export const TURN_1: v128 = i8x16(5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0);
export const TURN_2: v128 = i8x16(6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1);
export const TURN_3: v128 = i8x16(7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2);
/** The byte two rows further: after an even number of rounds, and an odd one. */
export const HALF_0: v128 = i8x16(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
export const HALF_1: v128 = i8x16(10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5);

/** The state at `from`, a round later, at `to`. The last round of a block has no MixColumns: `turn` and `half` are idle. */
// @ts-ignore: decorator
@inline
export function round(from: usize, to: usize, roundKey: usize, turn: v128, half: v128, last: bool): void {
  const u0 = v128.load(from, 112);
  const u1 = v128.load(from, 96);
  const u2 = v128.load(from, 80);
  const u3 = v128.load(from, 64);
  const u4 = v128.load(from, 48);
  const u5 = v128.load(from, 32);
  const u6 = v128.load(from, 16);
  const u7 = v128.load(from, 0);

  // Linear: 8 to 22 signals.
  const t1 = v128.xor(u0, u3);
  const t2 = v128.xor(u0, u5);
  const t3 = v128.xor(u0, u6);
  const t4 = v128.xor(u3, u5);
  const t5 = v128.xor(u4, u6);
  const t6 = v128.xor(t1, t5);
  const t7 = v128.xor(u1, u2);
  const t8 = v128.xor(u7, t6);
  const t9 = v128.xor(u7, t7);
  const t10 = v128.xor(t6, t7);
  const t11 = v128.xor(u1, u5);
  const t12 = v128.xor(u2, u5);
  const t13 = v128.xor(t3, t4);
  const t14 = v128.xor(t6, t11);
  const t15 = v128.xor(t5, t11);
  const t16 = v128.xor(t5, t12);
  const t17 = v128.xor(t9, t16);
  const t18 = v128.xor(u3, u7);
  const t19 = v128.xor(t7, t18);
  const t20 = v128.xor(t1, t19);
  const t21 = v128.xor(u6, u7);
  const t22 = v128.xor(t7, t21);
  const t23 = v128.xor(t2, t22);
  const t24 = v128.xor(t2, t10);
  const t25 = v128.xor(t20, t17);
  const t26 = v128.xor(t3, t16);
  const t27 = v128.xor(t1, t12);

  // The inverse in GF(2^8).
  const m1 = v128.and(t13, t6);
  const m2 = v128.and(t23, t8);
  const m3 = v128.xor(t14, m1);
  const m4 = v128.and(t19, u7);
  const m5 = v128.xor(m4, m1);
  const m6 = v128.and(t3, t16);
  const m7 = v128.and(t22, t9);
  const m8 = v128.xor(t26, m6);
  const m9 = v128.and(t20, t17);
  const m10 = v128.xor(m9, m6);
  const m11 = v128.and(t1, t15);
  const m12 = v128.and(t4, t27);
  const m13 = v128.xor(m12, m11);
  const m14 = v128.and(t2, t10);
  const m15 = v128.xor(m14, m11);
  const m16 = v128.xor(m3, m2);
  const m17 = v128.xor(m5, t24);
  const m18 = v128.xor(m8, m7);
  const m19 = v128.xor(m10, m15);
  const m20 = v128.xor(m16, m13);
  const m21 = v128.xor(m17, m15);
  const m22 = v128.xor(m18, m13);
  const m23 = v128.xor(m19, t25);
  const m24 = v128.xor(m22, m23);
  const m25 = v128.and(m22, m20);
  const m26 = v128.xor(m21, m25);
  const m27 = v128.xor(m20, m21);
  const m28 = v128.xor(m23, m25);
  const m29 = v128.and(m28, m27);
  const m30 = v128.and(m26, m24);
  const m31 = v128.and(m20, m23);
  const m32 = v128.and(m27, m31);
  const m33 = v128.xor(m27, m25);
  const m34 = v128.and(m21, m22);
  const m35 = v128.and(m24, m34);
  const m36 = v128.xor(m24, m25);
  const m37 = v128.xor(m21, m29);
  const m38 = v128.xor(m32, m33);
  const m39 = v128.xor(m23, m30);
  const m40 = v128.xor(m35, m36);
  const m41 = v128.xor(m38, m40);
  const m42 = v128.xor(m37, m39);
  const m43 = v128.xor(m37, m38);
  const m44 = v128.xor(m39, m40);
  const m45 = v128.xor(m42, m41);
  const m46 = v128.and(m44, t6);
  const m47 = v128.and(m40, t8);
  const m48 = v128.and(m39, u7);
  const m49 = v128.and(m43, t16);
  const m50 = v128.and(m38, t9);
  const m51 = v128.and(m37, t17);
  const m52 = v128.and(m42, t15);
  const m53 = v128.and(m45, t27);
  const m54 = v128.and(m41, t10);
  const m55 = v128.and(m44, t13);
  const m56 = v128.and(m40, t23);
  const m57 = v128.and(m39, t19);
  const m58 = v128.and(m43, t3);
  const m59 = v128.and(m38, t22);
  const m60 = v128.and(m37, t20);
  const m61 = v128.and(m42, t1);
  const m62 = v128.and(m45, t4);
  const m63 = v128.and(m41, t2);

  // Linear: back to 8 signals; s0 is the lowest bit.
  const l0 = v128.xor(m61, m62);
  const l1 = v128.xor(m50, m56);
  const l2 = v128.xor(m46, m48);
  const l3 = v128.xor(m47, m55);
  const l4 = v128.xor(m54, m58);
  const l5 = v128.xor(m49, m61);
  const l6 = v128.xor(m62, l5);
  const l7 = v128.xor(m46, l3);
  const l8 = v128.xor(m51, m59);
  const l9 = v128.xor(m52, m53);
  const l10 = v128.xor(m53, l4);
  const l11 = v128.xor(m60, l2);
  const l12 = v128.xor(m48, m51);
  const l13 = v128.xor(m50, l0);
  const l14 = v128.xor(m52, m61);
  const l15 = v128.xor(m55, l1);
  const l16 = v128.xor(m56, l0);
  const l17 = v128.xor(m57, l1);
  const l18 = v128.xor(m58, l8);
  const l19 = v128.xor(m63, l4);
  const l20 = v128.xor(l0, l1);
  const l21 = v128.xor(l1, l7);
  const l22 = v128.xor(l3, l12);
  const l23 = v128.xor(l18, l2);
  const l24 = v128.xor(l15, l9);
  const l25 = v128.xor(l6, l10);
  const l26 = v128.xor(l7, l9);
  const l27 = v128.xor(l8, l10);
  const l28 = v128.xor(l11, l14);
  const l29 = v128.xor(l11, l17);
  const s7 = v128.xor(l6, l24);
  const s6 = v128.xor(l16, l26);
  const s5 = v128.xor(l19, l28);
  const s4 = v128.xor(l6, l21);
  const s3 = v128.xor(l20, l22);
  const s2 = v128.xor(l25, l29);
  const s1 = v128.xor(l13, l27);
  const s0 = v128.xor(l6, l23);

  if (last) {
    v128.store(to, v128.xor(s0, v128.load(roundKey, 0)), 0);
    v128.store(to, v128.xor(s1, v128.load(roundKey, 16)), 16);
    v128.store(to, v128.xor(s2, v128.load(roundKey, 32)), 32);
    v128.store(to, v128.xor(s3, v128.load(roundKey, 48)), 48);
    v128.store(to, v128.xor(s4, v128.load(roundKey, 64)), 64);
    v128.store(to, v128.xor(s5, v128.load(roundKey, 80)), 80);
    v128.store(to, v128.xor(s6, v128.load(roundKey, 96)), 96);
    v128.store(to, v128.xor(s7, v128.load(roundKey, 112)), 112);
  } else {
    // Of a column a, b, c, d: 2a + 3b + c + d = 2 (a + b) + b + (c + d).
    const n0 = i8x16.swizzle(s0, turn);
    const n1 = i8x16.swizzle(s1, turn);
    const n2 = i8x16.swizzle(s2, turn);
    const n3 = i8x16.swizzle(s3, turn);
    const n4 = i8x16.swizzle(s4, turn);
    const n5 = i8x16.swizzle(s5, turn);
    const n6 = i8x16.swizzle(s6, turn);
    const n7 = i8x16.swizzle(s7, turn);
    const p0 = v128.xor(s0, n0);
    const p1 = v128.xor(s1, n1);
    const p2 = v128.xor(s2, n2);
    const p3 = v128.xor(s3, n3);
    const p4 = v128.xor(s4, n4);
    const p5 = v128.xor(s5, n5);
    const p6 = v128.xor(s6, n6);
    const p7 = v128.xor(s7, n7);
    v128.store(to, v128.xor(v128.xor(v128.xor(n0, v128.load(roundKey, 0)), p7), i8x16.swizzle(p0, half)), 0);
    v128.store(
      to,
      v128.xor(v128.xor(v128.xor(n1, v128.load(roundKey, 16)), v128.xor(p0, p7)), i8x16.swizzle(p1, half)),
      16,
    );
    v128.store(to, v128.xor(v128.xor(v128.xor(n2, v128.load(roundKey, 32)), p1), i8x16.swizzle(p2, half)), 32);
    v128.store(
      to,
      v128.xor(v128.xor(v128.xor(n3, v128.load(roundKey, 48)), v128.xor(p2, p7)), i8x16.swizzle(p3, half)),
      48,
    );
    v128.store(
      to,
      v128.xor(v128.xor(v128.xor(n4, v128.load(roundKey, 64)), v128.xor(p3, p7)), i8x16.swizzle(p4, half)),
      64,
    );
    v128.store(to, v128.xor(v128.xor(v128.xor(n5, v128.load(roundKey, 80)), p4), i8x16.swizzle(p5, half)), 80);
    v128.store(to, v128.xor(v128.xor(v128.xor(n6, v128.load(roundKey, 96)), p5), i8x16.swizzle(p6, half)), 96);
    v128.store(to, v128.xor(v128.xor(v128.xor(n7, v128.load(roundKey, 112)), p6), i8x16.swizzle(p7, half)), 112);
  }
}
