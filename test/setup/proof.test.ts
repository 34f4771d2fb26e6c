import { expect, test } from 'vitest';
import { passedTests, printProof, proofOf, type RunResult, type TestResult } from './proof.ts';

const passed: TestResult = {
  file: 'test/security/a.test.ts',
  title: 'T-50 > owner',
  state: 'passed',
  seconds: 61.04,
  errors: [],
  tried: { 'id positions': { times: 400, of: 400 } },
};
const run: RunResult = {
  depth: 'prove',
  seed: 7,
  startedAt: '2026-01-31T12:00:00.000Z',
  seconds: 125,
  isWhole: true,
  tests: [
    passed,
    { ...passed, title: 'T-50 > member', seconds: 1 },
    {
      ...passed,
      file: 'test/chaos/b.test.ts',
      title: 'kills',
      state: 'failed',
      errors: ['Error: lost\n  at b'],
      tried: { kills: { times: 3, of: 2000 } },
    },
  ],
  errors: [{ file: 'test/chaos/c.test.ts', error: 'Error: no such file' }],
  unsteady: ['test/chaos/d.test.ts'],
  commits: ['abc', 'def-dirty'],
};

test('a proof adds up what the tests of a file tried, and keeps what failed', () => {
  expect(proofOf(run)).toMatchObject({
    seed: 7,
    counts: { passed: 2, failed: 1, skipped: 0, pending: 0 },
    tried: [
      { file: 'test/security/a.test.ts', what: 'id positions', times: 800, of: 800 },
      { file: 'test/chaos/b.test.ts', what: 'kills', times: 3, of: 2000 },
    ],
    files: [
      { file: 'test/security/a.test.ts', tests: 2, seconds: 62 },
      { file: 'test/chaos/b.test.ts', tests: 1, seconds: 61 },
    ],
    failures: [{ file: 'test/chaos/b.test.ts', title: 'kills' }],
  });
});

test('a run that continues another one has the files that passed whole', () => {
  expect(passedTests(run).map(({ title }) => title)).toEqual(['T-50 > owner', 'T-50 > member']);
  const alsoFailed = { ...passed, title: 'T-50 > auditor', state: 'failed' as const };
  expect(passedTests({ ...run, tests: [...run.tests, alsoFailed] })).toEqual([]);
  const afterwards = { file: passed.file, error: 'Error: the installation disagrees with itself' };
  expect(passedTests({ ...run, errors: [afterwards] })).toEqual([]);
});

test('the report names the seed, what was tried, and every failure with its error', () => {
  const text = printProof(proofOf(run));
  for (const part of [
    'All generated matrices',
    '2 min 5 s',
    'TEST_SEED=7 npm run prove',
    '2 tests passed, 2 failed, 0 did not run.',
    '| test/security/a.test.ts | id positions | 800 | 800 |',
    '- test/chaos/b.test.ts > kills\n  Error: lost\n    at b',
    '- test/chaos/c.test.ts:\n  Error: no such file',
    '- test/chaos/d.test.ts',
    'Commits: abc, def-dirty; files that had passed at an earlier one were not repeated.',
  ])
    expect(text).toContain(part);
  expect(printProof(proofOf({ ...run, isWhole: false }))).toContain('A part of the generated matrices');
});
