import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gcsBinary } from '#temporal-dev/binaries/gcs-binary.ts';
import { openfgaBinary } from '#temporal-dev/binaries/openfga-binary.ts';
import { redisBinary } from '#temporal-dev/binaries/redis-binary.ts';
import { s3Binary } from '#temporal-dev/binaries/s3-binary.ts';
import { temporalBinary } from '#temporal-dev/binaries/temporal-binary.ts';
import { Random } from '../kit/random.ts';
import { coveringSample } from '../kit/sample-of.ts';
import { filesThatTakeTurns, leftOut, provedFiles } from './left-out.ts';
import { matrixFiles } from './matrix-files.ts';
import { startsProcesses } from './processes-first.ts';
import { runSeed } from './run-seed.ts';

interface Cell {
  readonly kind: string;
  readonly operation: string;
  readonly caller: string;
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_none, place) => `${prefix}${place}`);
/** A matrix of which some kinds lack some operations. */
const cells: Cell[] = names('kind', 40).flatMap((kind, number) =>
  names('operation', 1 + (number % 6)).flatMap((operation) =>
    names('caller', 9).map((caller) => ({ kind, operation, caller })),
  ),
);
const by = [({ kind, operation }: Cell) => `${kind} ${operation}`, ({ kind, caller }: Cell) => `${kind} ${caller}`];
const seeds = Array.from({ length: 40 }, (_none, seed) => seed);
const sampleWith = (seed: number, atLeast = 1) => coveringSample(new Random(seed), cells, { by, atLeast });

describe('a sample', () => {
  test.each([1, 3])('of every seed has %i items of every group, or all that the group has', (atLeast) => {
    for (const seed of seeds) {
      const sample = sampleWith(seed, atLeast);
      for (const groupOf of by) {
        const found = Map.groupBy(sample, groupOf);
        const lacking = [...Map.groupBy(cells, groupOf)].filter(
          ([group, all]) => (found.get(group)?.length ?? 0) < Math.min(atLeast, all.length),
        );
        expect(lacking).toEqual([]);
      }
    }
  });

  test('is small, keeps the order, and is another one for another seed', () => {
    const [one, two] = [sampleWith(1), sampleWith(2)];
    expect(one.length).toBeLessThan(cells.length / 2);
    expect(one).toEqual(cells.filter((cell) => new Set(one).has(cell)));
    expect(two).not.toEqual(one);
    expect(sampleWith(1)).toEqual(one);
  });

  test('finds a fault of a whole kind or operation with every seed, and a fault of one cell with some seed', () => {
    const finds = (seed: number, isFaulty: (cell: Cell) => boolean) => sampleWith(seed).some(isFaulty);
    expect(seeds.every((seed) => finds(seed, ({ kind }) => kind === 'kind37'))).toBe(true);
    expect(
      seeds.every((seed) => finds(seed, ({ kind, operation }) => kind === 'kind5' && operation === 'operation5')),
    ).toBe(true);
    const isOneCell = ({ kind, operation, caller }: Cell) =>
      kind === 'kind5' && operation === 'operation5' && caller === 'caller7';
    // What only the whole matrix finds each time; that is what `npm run prove` is for.
    expect(cells.filter(isOneCell)).toHaveLength(1);
    const found = seeds.filter((seed) => finds(seed, isOneCell));
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(seeds.length);
  });
});

test('npm run prove runs the files that ask for the depth of the run', () => {
  const files = matrixFiles(process.cwd());
  expect(files).toContain('test/security/tenant-isolation.test.ts');
  expect(files).toContain('test/chaos/random-kills.test.ts');
  expect(files).not.toContain('test/setup/sampling.test.ts');
});

test('files that start processes are told by what they import', () => {
  expect(startsProcesses('test/chaos/failpoints.test.ts')).toBe(true);
  expect(startsProcesses('test/docs/recipes/recipes.test.ts')).toBe(true);
  expect(startsProcesses('test/setup/sampling.test.ts')).toBe(false);
});

test('TEST_SEED is the seed of a run, and what is no seed is refused', () => {
  expect(runSeed('123')).toBe(123);
  expect(new Set([runSeed(''), runSeed('')]).size).toBe(2);
  for (const wrong of ['x', '-1', '1.5', String(2 ** 31), ' ']) expect(() => runSeed(wrong)).toThrow('TEST_SEED');
});

describe('a run of the suite', () => {
  const suite = ['node', 'test/run-main.ts'];

  test('has one file of test/chaos, some of those of machinery and some of each folder of features; other seeds have the others, and npm run prove has all', () => {
    const [chaos, marked, ...features] = filesThatTakeTurns();
    expect(chaos?.files).toContain('test/chaos/failpoints.test.ts');
    expect(marked?.files).toContain('test/relay/two-relays.test.ts');
    const folders = new Set(features.flatMap(({ files }) => files.map((file) => dirname(file))));
    expect(folders).toContain('test/api/identity');
    const inTurn = new Set(filesThatTakeTurns().flatMap(({ files }) => files));
    for (const always of ['test/security/tenant-isolation.test.ts', 'test/architecture/areas.test.ts'])
      expect(inTurn).not.toContain(always);
    for (const { files, each } of filesThatTakeTurns()) {
      const ran = seeds
        .slice(0, 10)
        .map((seed) => files.filter((file) => !leftOut(seed, { argv: suite }).includes(file)));
      expect(new Set(ran.map(({ length }) => length))).toEqual(new Set([each]));
      expect(new Set(ran.flat()).size).toBeGreaterThanOrEqual(Math.min(each + 1, files.length));
      expect(matrixFiles(process.cwd())).toEqual(expect.arrayContaining([...files]));
    }
  });

  test('has the tests of what was changed last, whatever the seed', () => {
    const changed = ['test/api/identity/passkeys.test.ts', 'test/relay/two-relays.test.ts'];
    for (const seed of seeds.slice(0, 10)) {
      const left = leftOut(seed, { argv: suite, changed: () => changed });
      for (const file of changed) expect(left).not.toContain(file);
    }
  });

  test('leaves out files that take minutes, which npm run prove has, and has a short proof of each', () => {
    const proved = provedFiles();
    const turns = new Set(filesThatTakeTurns().flatMap(({ files }) => files));
    expect(proved.size).toBeGreaterThan(5);
    for (const [file, short] of proved) {
      expect(leftOut(1, { argv: suite })).toContain(file);
      expect(matrixFiles(process.cwd())).toContain(file);
      expect([short, existsSync(short), proved.has(short), turns.has(short)]).toEqual([short, true, false, false]);
    }
  });

  test('starts no server that is built from source but OpenFGA', () => {
    const proved = provedFiles();
    const tests = globSync('test/**/*.test.ts').filter((file) => !proved.has(file));
    const builders = tests.filter((file) =>
      /\/kit\/servers\/(?:acme-server|versitygw|stripe-mock)\.ts'/.test(readFileSync(file, 'utf8')),
    );
    expect(builders).toEqual([]);
    const built = [temporalBinary, openfgaBinary, redisBinary, s3Binary, gcsBinary].filter(({ goModule }) => goModule);
    expect(built).toEqual([openfgaBinary]);
  });

  test('has all that its command line names', () => {
    expect(leftOut(1, { argv: [...suite, 'test/chaos'] })).toEqual([]);
    expect(leftOut(1, { argv: [...suite, '--changed'] })).toEqual([]);
    expect(leftOut(1, { argv: [...suite, '--maxWorkers=2'] })).toEqual(leftOut(1, { argv: suite }));
  });
});
