/**
 * One round of AES on eight blocks at once (FIPS 197, section 5.1), on a state in planes
 * (planes.ts).
 * SubBytes is a circuit of 115 gates: Boyar and Peralta, "A new combinational logic minimization
 * technique with applications to cryptology" (SEA 2010), with their names. The constant 0x63 that
 * the S-box adds is in the round keys instead: it is the same in every byte, so neither ShiftRows
 * nor MixColumns changes it.
 * ShiftRows is omitted. MixColumns instead reads the bytes of a column from their places after k
 * rounds without it ("fixslicing", Adomnicai and Peyrin, TCHES 2021/1): the byte of the next row is
 * k columns further right, modulo 4.
 */

/** The last round of a block, which has no MixColumns. */
export const LAST: u32 = 4;

/** The byte of the next row in the same column. */
// @ts-ignore: decorator
@inline
function nextRow(plane: v128, k: u32): v128 {
  if (k == 0) return v128.shuffle<i32>(plane, plane, 1, 2, 3, 0);
  if (k == 1) return i8x16.swizzle(plane, i8x16(5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0));
  if (k == 2) return i8x16.swizzle(plane, i8x16(6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1));
  return i8x16.swizzle(plane, i8x16(7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2));
}

/** The byte two rows further in the same column. */
// @ts-ignore: decorator
@inline
function rowAfter(plane: v128, k: u32): v128 {
  if (k % 2 == 0) return v128.shuffle<i32>(plane, plane, 2, 3, 0, 1);
  return i8x16.swizzle(plane, i8x16(10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5));
}

/** A round of the state, in place: round k modulo 4, or LAST. Both are compile-time constants. */
// @ts-ignore: decorator
@inline
export function round(state: usize, roundKey: usize, k: u32): void {
  const u0 = v128.load(state, 112);
  const u1 = v128.load(state, 96);
  const u2 = v128.load(state, 80);
  const u3 = v128.load(state, 64);
  const u4 = v128.load(state, 48);
  const u5 = v128.load(state, 32);
  const u6 = v128.load(state, 16);
  const u7 = v128.load(state, 0);

  // Linear: from 8 bits to 22; u0 is the highest bit.
  const y14 = v128.xor(u3, u5);
  const y13 = v128.xor(u0, u6);
  const y9 = v128.xor(u0, u3);
  const y8 = v128.xor(u0, u5);
  const t0 = v128.xor(u1, u2);
  const y1 = v128.xor(t0, u7);
  const y4 = v128.xor(y1, u3);
  const y12 = v128.xor(y13, y14);
  const y2 = v128.xor(y1, u0);
  const y5 = v128.xor(y1, u6);
  const y3 = v128.xor(y5, y8);
  const t1 = v128.xor(u4, y12);
  const y15 = v128.xor(t1, u5);
  const y20 = v128.xor(t1, u1);
  const y6 = v128.xor(y15, u7);
  const y10 = v128.xor(y15, t0);
  const y11 = v128.xor(y20, y9);
  const y7 = v128.xor(u7, y11);
  const y17 = v128.xor(y10, y11);
  const y19 = v128.xor(y10, y8);
  const y16 = v128.xor(t0, y11);
  const y21 = v128.xor(y13, y16);
  const y18 = v128.xor(u0, y16);

  // Inversion in GF(2^8), down to GF(2^4) and back up.
  const t2 = v128.and(y12, y15);
  const t3 = v128.and(y3, y6);
  const t4 = v128.xor(t3, t2);
  const t5 = v128.and(y4, u7);
  const t6 = v128.xor(t5, t2);
  const t7 = v128.and(y13, y16);
  const t8 = v128.and(y5, y1);
  const t9 = v128.xor(t8, t7);
  const t10 = v128.and(y2, y7);
  const t11 = v128.xor(t10, t7);
  const t12 = v128.and(y9, y11);
  const t13 = v128.and(y14, y17);
  const t14 = v128.xor(t13, t12);
  const t15 = v128.and(y8, y10);
  const t16 = v128.xor(t15, t12);
  const t17 = v128.xor(t4, t14);
  const t18 = v128.xor(t6, t16);
  const t19 = v128.xor(t9, t14);
  const t20 = v128.xor(t11, t16);
  const t21 = v128.xor(t17, y20);
  const t22 = v128.xor(t18, y19);
  const t23 = v128.xor(t19, y21);
  const t24 = v128.xor(t20, y18);
  const t25 = v128.xor(t21, t22);
  const t26 = v128.and(t21, t23);
  const t27 = v128.xor(t24, t26);
  const t28 = v128.and(t25, t27);
  const t29 = v128.xor(t28, t22);
  const t30 = v128.xor(t23, t24);
  const t31 = v128.xor(t22, t26);
  const t32 = v128.and(t31, t30);
  const t33 = v128.xor(t32, t24);
  const t34 = v128.xor(t23, t33);
  const t35 = v128.xor(t27, t33);
  const t36 = v128.and(t24, t35);
  const t37 = v128.xor(t36, t34);
  const t38 = v128.xor(t27, t36);
  const t39 = v128.and(t29, t38);
  const t40 = v128.xor(t25, t39);
  const t41 = v128.xor(t40, t37);
  const t42 = v128.xor(t29, t33);
  const t43 = v128.xor(t29, t40);
  const t44 = v128.xor(t33, t37);
  const t45 = v128.xor(t42, t41);
  const z0 = v128.and(t44, y15);
  const z1 = v128.and(t37, y6);
  const z2 = v128.and(t33, u7);
  const z3 = v128.and(t43, y16);
  const z4 = v128.and(t40, y1);
  const z5 = v128.and(t29, y7);
  const z6 = v128.and(t42, y11);
  const z7 = v128.and(t45, y17);
  const z8 = v128.and(t41, y10);
  const z9 = v128.and(t44, y12);
  const z10 = v128.and(t37, y3);
  const z11 = v128.and(t33, y4);
  const z12 = v128.and(t43, y13);
  const z13 = v128.and(t40, y5);
  const z14 = v128.and(t29, y2);
  const z15 = v128.and(t42, y9);
  const z16 = v128.and(t45, y14);
  const z17 = v128.and(t41, y8);

  // Linear: to 8 bits; s0 is the lowest one.
  const t46 = v128.xor(z15, z16);
  const t47 = v128.xor(z10, z11);
  const t48 = v128.xor(z5, z13);
  const t49 = v128.xor(z9, z10);
  const t50 = v128.xor(z2, z12);
  const t51 = v128.xor(z2, z5);
  const t52 = v128.xor(z7, z8);
  const t53 = v128.xor(z0, z3);
  const t54 = v128.xor(z6, z7);
  const t55 = v128.xor(z16, z17);
  const t56 = v128.xor(z12, t48);
  const t57 = v128.xor(t50, t53);
  const t58 = v128.xor(z4, t46);
  const t59 = v128.xor(z3, t54);
  const t60 = v128.xor(t46, t57);
  const t61 = v128.xor(z14, t57);
  const t62 = v128.xor(t52, t58);
  const t63 = v128.xor(t49, t58);
  const t64 = v128.xor(z4, t59);
  const t65 = v128.xor(t61, t62);
  const t66 = v128.xor(z1, t63);
  const s7 = v128.xor(t59, t63);
  const s1 = v128.xor(t56, t62);
  const s0 = v128.xor(t48, t60);
  const t67 = v128.xor(t64, t65);
  const s4 = v128.xor(t53, t66);
  const s3 = v128.xor(t51, t66);
  const s2 = v128.xor(t47, t65);
  const s6 = v128.xor(t64, s4);
  const s5 = v128.xor(t55, t67);

  if (k == LAST) {
    v128.store(state, v128.xor(s0, v128.load(roundKey, 0)), 0);
    v128.store(state, v128.xor(s1, v128.load(roundKey, 16)), 16);
    v128.store(state, v128.xor(s2, v128.load(roundKey, 32)), 32);
    v128.store(state, v128.xor(s3, v128.load(roundKey, 48)), 48);
    v128.store(state, v128.xor(s4, v128.load(roundKey, 64)), 64);
    v128.store(state, v128.xor(s5, v128.load(roundKey, 80)), 80);
    v128.store(state, v128.xor(s6, v128.load(roundKey, 96)), 96);
    v128.store(state, v128.xor(s7, v128.load(roundKey, 112)), 112);
    return;
  }
  // Of a column a, b, c, d: 2a + 3b + c + d = 2 (a + b) + b + (c + d).
  const n0 = nextRow(s0, k);
  const n1 = nextRow(s1, k);
  const n2 = nextRow(s2, k);
  const n3 = nextRow(s3, k);
  const n4 = nextRow(s4, k);
  const n5 = nextRow(s5, k);
  const n6 = nextRow(s6, k);
  const n7 = nextRow(s7, k);
  const p0 = v128.xor(s0, n0);
  const p1 = v128.xor(s1, n1);
  const p2 = v128.xor(s2, n2);
  const p3 = v128.xor(s3, n3);
  const p4 = v128.xor(s4, n4);
  const p5 = v128.xor(s5, n5);
  const p6 = v128.xor(s6, n6);
  const p7 = v128.xor(s7, n7);
  const m0 = v128.xor(v128.xor(v128.xor(n0, v128.load(roundKey, 0)), p7), rowAfter(p0, k));
  v128.store(state, m0, 0);
  const m1 = v128.xor(v128.xor(v128.xor(n1, v128.load(roundKey, 16)), v128.xor(p0, p7)), rowAfter(p1, k));
  v128.store(state, m1, 16);
  const m2 = v128.xor(v128.xor(v128.xor(n2, v128.load(roundKey, 32)), p1), rowAfter(p2, k));
  v128.store(state, m2, 32);
  const m3 = v128.xor(v128.xor(v128.xor(n3, v128.load(roundKey, 48)), v128.xor(p2, p7)), rowAfter(p3, k));
  v128.store(state, m3, 48);
  const m4 = v128.xor(v128.xor(v128.xor(n4, v128.load(roundKey, 64)), v128.xor(p3, p7)), rowAfter(p4, k));
  v128.store(state, m4, 64);
  const m5 = v128.xor(v128.xor(v128.xor(n5, v128.load(roundKey, 80)), p4), rowAfter(p5, k));
  v128.store(state, m5, 80);
  const m6 = v128.xor(v128.xor(v128.xor(n6, v128.load(roundKey, 96)), p5), rowAfter(p6, k));
  v128.store(state, m6, 96);
  const m7 = v128.xor(v128.xor(v128.xor(n7, v128.load(roundKey, 112)), p6), rowAfter(p7, k));
  v128.store(state, m7, 112);
}
