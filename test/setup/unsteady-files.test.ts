import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, '.local', 'unsteady-'));
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { ClosingReporter } from '../../test/setup/closing-reporter.ts';
  export default {
    test: {
      include: ['*.test.ts'],
      globalSetup: ['./servers.ts'],
      reporters: ['default', new ClosingReporter({ checksEffects: false })],
      experimental: { viteModuleRunner: false, nodeLoader: false },
      isolate: false,
    },
  };`,
  );
  // As the servers of the suite, what a file needs ends with the run.
  writeFileSync(
    join(folder, 'servers.ts'),
    `import { writeFileSync, rmSync } from 'node:fs';
  const running = '${folder}/running';
  export default (project) => {
    writeFileSync(running, '');
    project.provide('running', running);
    return () => rmSync(running);
  };`,
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, body: string): void {
  const imports = `import { existsSync, writeFileSync } from 'node:fs';\nimport { expect, inject, test } from 'vitest';`;
  writeFileSync(
    join(folder, `${name}.test.ts`),
    `${imports}\ntest('${name}', () => {expect(existsSync(inject('running'))).toBe(true);${body}});\n`,
  );
}

/** Fails when it runs for the first time. */
const unsteady = (name: string) =>
  file(
    name,
    `const isAgain = existsSync('${folder}/${name}'); writeFileSync('${folder}/${name}', ''); expect(isAgain).toBe(true);`,
  );

function run(...args: string[]): Promise<{ code: number; lines: string[] }> {
  return new Promise((resolve) => {
    const command = ['test/run-main.ts', '--config', join(folder, 'vitest.config.ts'), '--root', folder, ...args];
    execFile(process.execPath, command, { cwd: root }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, lines: stdout.trimEnd().split('\n') }),
    );
  });
}

test('a file that fails and then passes is named, and the run passes', async () => {
  unsteady('now-and-then');
  file('always', '');
  const { code, lines } = await run();
  expect(lines.at(-1)).toBe('2 passed, 0 failed, 0 skipped');
  expect(lines.filter((line) => line.startsWith('unsteady'))).toEqual([
    expect.stringContaining('now-and-then.test.ts > now-and-then: expected false to be true'),
  ]);
  expect(code).toBe(0);
});

test('a file that fails twice fails', async () => {
  file('broken', 'expect(1).toBe(2);');
  unsteady('now-and-then');
  const { code, lines } = await run();
  expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped');
  expect(code).toBe(1);
});

test('no file runs again when more than three have failed', async () => {
  for (const name of ['a', 'b', 'c', 'd']) unsteady(name);
  const { code, lines } = await run();
  expect(lines.at(-1)).toBe('0 passed, 4 failed, 0 skipped');
  expect(code).toBe(1);
});

test('whoever asks for one file gets its first answer', async () => {
  unsteady('now-and-then');
  file('always', '');
  const { code, lines } = await run('now-and-then');
  expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
  expect(code).toBe(1);
});
