import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Files of the project folder that the commands of the documents use. */
const projectFiles = ['package.json', 'bootstrap.mjs', 'temporal-dev', 'node_modules'];

/**
 * The code blocks of a document, in order.
 * @param document path below the project folder
 * @param language as written after the three backticks
 * @param heading beginning of the section of level 2 that is read; without it, all are
 */
export function codeBlocks(document: string, language: string, heading = ''): string[] {
  const sections = readFileSync(join(root, document), 'utf8').split(/^## /m);
  const text = sections.filter((section) => section.startsWith(heading)).join('');
  const pattern = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm');
  return [...text.matchAll(pattern)].map(([, code]) => code as string);
}

/** A shell into which a reader pastes blocks, one after the other, in a folder that looks like the project. */
export class ReaderShell {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #output = '';
  #errors = '';
  #count = 0;

  /** @param stateDir the `.local` of the project @param name of its folder there */
  constructor(stateDir: string, name: string) {
    this.#folder = join(stateDir, name);
    mkdirSync(this.#folder);
    symlinkSync(stateDir, join(this.#folder, '.local'));
    for (const file of projectFiles) symlinkSync(join(root, file), join(this.#folder, file));
    this.#child = spawn('bash', ['-e'], {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], STACK_STATE_DIR: stateDir },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
  }

  /** Pastes a block and waits for its end. @returns what it printed @throws when a command fails */
  async run(block: string): Promise<string> {
    const file = join(this.#folder, `block-${++this.#count}.sh`);
    const end = `\n--- end of block ${this.#count}\n`;
    writeFileSync(file, block);
    this.#output = '';
    // The commands must not read what comes after them.
    this.#child.stdin?.write(`source '${file}' </dev/null; printf '${end.replaceAll('\n', '\\n')}'\n`);
    for await (const chunk of this.#child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
      this.#output += String(chunk);
      if (this.#output.endsWith(end)) return this.#output.slice(0, -end.length);
    }
    throw new Error(`a command failed in\n${block}\n${this.#output}\n${this.#errors}`);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin?.end();
    await once(this.#child, 'exit');
  }
}
