/**
 * The seed of this run: `TEST_SEED`, or a new one.
 * @throws Error when the variable holds no seed
 */
export function runSeed(given = process.env['TEST_SEED']): number {
  if (given === undefined || given === '') return Math.floor(Math.random() * 2 ** 31);
  if (!/^\d{1,10}$/.test(given) || Number(given) >= 2 ** 31)
    throw new Error(`TEST_SEED is ${JSON.stringify(given)}: give a whole number below ${2 ** 31}`);
  return Number(given);
}
