import type { Depth } from '../kit/depth.ts';
import type { Tried } from '../kit/tried.ts';

/** A test as the reporters see it. */
export interface TestResult {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
  readonly seconds: number;
  readonly errors: readonly string[];
  readonly tried: Readonly<Record<string, Tried>>;
}

/** A run as a whole. */
export interface RunResult {
  readonly depth: Depth;
  readonly seed: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  /** Whether all matrices ran, and not only those that were asked for by name. */
  readonly isWhole: boolean;
  readonly tests: readonly TestResult[];
  /** What failed outside of tests: files that do not load, hooks; unhandled errors are of no file. */
  readonly errors: readonly { readonly file?: string; readonly error: string }[];
  /** Files that failed, and passed when they ran once more. */
  readonly unsteady: readonly string[];
  /** Those of the parts of the run, the oldest first; `-dirty` when the working tree had changes. */
  readonly commits: readonly string[];
}

/** What `npm run prove` writes to `.local/proof.json`. */
export interface Proof extends RunResult {
  readonly counts: Readonly<Record<TestResult['state'], number>>;
  /** By what was tried, in all tests of a file together. */
  readonly tried: readonly {
    readonly file: string;
    readonly what: string;
    readonly times: number;
    readonly of: number;
  }[];
  readonly files: readonly { readonly file: string; readonly tests: number; readonly seconds: number }[];
  readonly failures: readonly Pick<TestResult, 'file' | 'title' | 'errors'>[];
}

/** The tests of files that passed whole: a run that continues another one does not repeat them. */
export function passedTests({ tests, errors }: RunResult): readonly TestResult[] {
  // When a hook fails, the tests of its file have passed.
  const broken = new Set(errors.map(({ file }) => file));
  return [...Map.groupBy(tests, ({ file }) => file)]
    .filter(([file, all]) => !broken.has(file) && all.every(({ state }) => state === 'passed'))
    .flatMap(([, all]) => all);
}

export function proofOf(run: RunResult): Proof {
  const { tests } = run;
  const tried = new Map<string, { file: string; what: string; times: number; of: number }>();
  for (const test of tests)
    for (const [what, { times, of }] of Object.entries(test.tried)) {
      const key = `${test.file} ${what}`;
      const before = tried.get(key) ?? { file: test.file, what, times: 0, of: 0 };
      tried.set(key, { ...before, times: before.times + times, of: before.of + of });
    }
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const { state } of tests) counts[state]++;
  return {
    ...run,
    counts,
    tried: [...tried.values()],
    files: [...Map.groupBy(tests, ({ file }) => file)]
      .map(([file, all]) => ({
        file,
        tests: all.length,
        seconds: rounded(all.reduce((sum, { seconds }) => sum + seconds, 0)),
      }))
      .toSorted((a, b) => b.seconds - a.seconds),
    failures: tests
      .filter(({ state }) => state === 'failed')
      .map(({ file, title, errors }) => ({ file, title, errors })),
  };
}

/** The same to be read: `.local/proof.md`. */
export function printProof(proof: Proof): string {
  const { counts, failures, errors } = proof;
  const failed = failures.length + errors.length;
  const left = counts.skipped + counts.pending;
  const isWhole = proof.isWhole && left === 0;
  return [
    '# Proof',
    '',
    `${isWhole ? 'All generated matrices' : 'A part of the generated matrices'}, ` +
      `started ${proof.startedAt}, ${duration(proof.seconds)}. Repeat it with \`TEST_SEED=${proof.seed} npm run prove\`.`,
    `Commits: ${proof.commits.join(', ')}${proof.commits.length > 1 ? '; files that had passed at an earlier one were not repeated' : ''}.`,
    '',
    `${counts.passed} tests passed, ${failed} failed, ${left} did not run.`,
    '',
    '## Tried',
    '',
    '| Test file | What | Tried | Of |',
    '| --- | --- | ---: | ---: |',
    ...proof.tried.map(({ file, what, times, of }) => `| ${file} | ${what} | ${times} | ${of} |`),
    '',
    '## Failed',
    '',
    ...(failed === 0 ? ['Nothing.'] : []),
    ...failures.flatMap((one) => [`- ${one.file} > ${one.title}`, ...one.errors.map(indented)]),
    ...errors.map(({ file, error }) => `- ${file ?? 'outside of tests'}:\n${indented(error)}`),
    ...(proof.unsteady.length === 0 ? [] : ['', '## Passed only when they ran once more', '']),
    ...proof.unsteady.map((file) => `- ${file}`),
    '',
    '## Time',
    '',
    '| Test file | Tests | Seconds |',
    '| --- | ---: | ---: |',
    ...proof.files.map(({ file, tests, seconds }) => `| ${file} | ${tests} | ${seconds} |`),
    '',
  ].join('\n');
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${Math.round(seconds)} s` : `${minutes} min ${Math.round(seconds % 60)} s`;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
