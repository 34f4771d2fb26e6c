import { found } from '#entities/kit/base/schema-problem.ts';

/** Of the types of whole numbers. */
const limits: Readonly<Record<string, { readonly min: number; readonly max: number }>> = {
  Int: { min: -2_147_483_648, max: 2_147_483_647 },
  BigInt: { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
};

/** Problem of a whole number that a type has no room for, as the end of a sentence; undefined for what is none. */
export function limitProblem(type: string, value: unknown): string | undefined {
  const limit = limits[type];
  if (limit === undefined || typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  return `${value > 0 ? `must be at most ${limit.max}` : `must be at least ${limit.min}`}${found(value)}`;
}
