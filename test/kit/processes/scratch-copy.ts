import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compileCache } from './spawned-process.ts';
import { repositoryFiles } from '../repository-files.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** A copy of the repository with a Git history of its own, in which recipes of CONTRIBUTING.md are followed. */
export class ScratchCopy {
  readonly folder: string;

  /** @param folder does not exist yet; it belongs to the test run, which removes it */
  constructor(folder: string) {
    this.folder = folder;
    for (const file of repositoryFiles()) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(root, file), join(folder, file));
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    // A link is no folder: .gitignore does not speak of it.
    this.git('init', '-q', '-b', 'main');
    appendFileSync(join(folder, '.git/info/exclude'), 'node_modules\n.local\n');
    this.commit('as it is');
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
      cwd: this.folder,
      encoding: 'utf8',
    });
  }

  commit(message: string): void {
    this.git('add', '-A');
    this.git('commit', '-q', '-m', message);
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  write(file: string, content: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), content);
  }

  /** Replaces a text that stands in the file. */
  change(file: string, from: string, to: string): void {
    const content = this.read(file);
    if (!content.includes(from)) throw new Error(`${file} does not hold ${JSON.stringify(from)}`);
    this.write(
      file,
      content.replace(from, () => to),
    );
  }

  /** Files that differ from the last commit, new ones included. */
  changedFiles(): string[] {
    return this.git('status', '--porcelain', '--untracked-files=all')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.slice(3))
      .toSorted();
  }

  /** Lines that files of the last commit gained. */
  addedLines(file: string): number {
    return Number(this.git('diff', '--numstat', '--', file).split('\t')[0]);
  }

  /** Runs a command in a shell, without the settings of the test run. Rejects with its output when it fails. */
  shell(command: string): Promise<string> {
    return this.#run('bash', ['-ec', command]);
  }

  /** Runs what `npm run migrate` or `npm run migrate:new` does, without npm, which takes a third of the time. */
  migrate(command: 'up' | 'new', url: string, ...names: readonly string[]): Promise<string> {
    return this.#run(process.execPath, ['migrations/migrate-main.ts', command, ...names, '--url', url]);
  }

  async #run(command: string, args: readonly string[]): Promise<string> {
    const environment = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      // Its packages are those of this clone, and have been compiled.
      NODE_COMPILE_CACHE: compileCache,
    };
    const options = { cwd: this.folder, env: environment, maxBuffer: 1 << 26 };
    const { stdout, stderr } = await run(command, args, options).catch((error: Error & { readonly stdout: string }) => {
      // The message has what it wrote to the other stream.
      error.message += error.stdout;
      throw error;
    });
    return stdout + stderr;
  }

  /** Rejects with what is wrong. */
  async checkTypesAndFormat(): Promise<void> {
    // In one thread it takes half the processor time, and other test files run beside it.
    await this.shell('node_modules/.bin/tsc --noEmit --singleThreaded -p .');
    await this.shell('node_modules/.bin/oxfmt --check .');
  }
}
