import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { repositoryFiles } from '../kit/repository-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tracked = repositoryFiles();
const sources = tracked.filter((file) => file.endsWith('.ts'));

test('file names are kebab-case and say what is inside', () => {
  const vague = new Set(['utils', 'helpers', 'types', 'common', 'misc', 'lib', 'shared']);
  expect(
    sources.filter(
      (file) =>
        !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|contract|config|mail|listener|sweep|backfill|step|receiver))?\.ts$/.test(
          basename(file),
        ),
    ),
  ).toEqual([]);
  expect(sources.filter((file) => vague.has(basename(file, '.ts')))).toEqual([]);
});

test('index files stand only where a list belongs', () => {
  const places = new Set([
    'entities/index.ts',
    'activities/listeners/index.ts',
    'activities/mails/index.ts',
    'migrations/index.ts',
  ]);
  const isList = (file: string) => places.has(file) || /^entities\/(?!kit\/)[^/]+\/index\.ts$/.test(file);
  expect(sources.filter((file) => basename(file) === 'index.ts' && !isList(file))).toEqual([]);
});

test('files are small: 300 lines, unless they say why', () => {
  const long = sources
    .filter((file) => !/^migrations\/migration-|^test\//.test(file))
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length }))
    .filter(({ file, lines }) => lines > 300 && !readFileSync(join(root, file), 'utf8').includes('// Long because'));
  expect(long).toEqual([]);
});

test('no TODO, no default export, no enum, no parameter property', () => {
  const offences = sources
    .filter(
      (file) =>
        ![
          'vitest.config.ts',
          'test/histories/histories.config.ts',
          'test/setup/prove.config.ts',
          'test/setup/global-setup.ts',
          'test/setup/processor-time.ts',
        ].includes(file) && !file.startsWith('test/architecture/'),
    )
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [
        ...(/\b(?:TODO|FIXME|XXX)\b/.test(text) ? [`${file}: TODO`] : []),
        ...(/^export default /m.test(text) ? [`${file}: default export`] : []),
        ...(/^\s*(?:export )?(?:const )?enum /m.test(text) ? [`${file}: enum`] : []),
        ...(/constructor\([^)]*\b(?:private|public|protected|readonly) \w+[:?]/.test(text)
          ? [`${file}: parameter property`]
          : []),
      ];
    });
  expect(offences).toEqual([]);
});

test('nothing of a machine stands in the repository', () => {
  const offences = tracked
    .filter(
      (file) =>
        !/^(?:package-lock\.json|temporal-dev\/(?:\w+\/)?go\.sum)$/.test(file) &&
        !file.startsWith('test/architecture/'),
    )
    .filter((file) =>
      /(?:registry\.npmjs\.org|pypi\.org|files\.pythonhosted\.org|proxy\.golang\.org|\/work\/main|\/root\/)/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    );
  expect(offences).toEqual([]);
});

/** What reads the parameters of password hashes, in the file that declares them. */
const reading = /export const hashParameters: Readonly<|\.\.\.hashParameters\b|\$\{hashParameters\.\w+\}/g;
const changesHashing = (source: string) => source.replaceAll(reading, '').includes('hashParameters');

test('only tests lower the parameters of password hashes', () => {
  const those = (name: string) =>
    sources.filter(
      (file) => !file.startsWith('test/architecture/') && readFileSync(join(root, file), 'utf8').includes(name),
    );
  expect(those('hashParameters')).toEqual(['api/auth/password.ts', 'test/kit/identity/password-hashing.ts']);
  expect(changesHashing(readFileSync(join(root, 'api/auth/password.ts'), 'utf8'))).toBe(false);
  expect(those('hashPasswordsAs').filter((file) => !file.startsWith('test/'))).toEqual([]);
});

test.each([
  'Object.assign(hashParameters, { memory: 8 });',
  'hashParameters.memory = 8;',
  'export const hashParameters: Record<string, number> = {};',
  'const lowered = hashParameters;',
])('a change of the parameters of password hashes is found: %s', (line) => {
  expect(changesHashing(line)).toBe(true);
});
