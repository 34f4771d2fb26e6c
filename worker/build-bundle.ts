import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));
const workflowFile = (name: string) => join(root, 'workflows', name);

/**
 * The bundle of all workflow code, built when it is not there yet. It is named by what went into it, so processes that
 * start together, and tests, share one.
 * @param folder where bundles are kept
 * @returns path of the bundle
 */
export async function workflowBundle(folder: string): Promise<string> {
  const path = join(folder, `workflows-${await fingerprint()}.js`);
  if (
    await stat(path).then(
      () => true,
      () => false,
    )
  )
    return path;
  const { code } = await bundleWorkflowCode({
    workflowsPath: workflowFile('index.ts'),
    workflowInterceptorModules: [workflowFile('kit/interceptors.ts')],
    failureConverterPath: workflowFile('kit/failure-converter.ts'),
    // Its progress report goes to standard error; what matters is thrown.
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  await mkdir(folder, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, code);
  await rename(draft, path);
  return path;
}

/** Digest of the workflow sources and of the installed packages. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const files = await readdir(workflowFile('.'), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts')).toSorted()) {
    hash.update(file).update(await readFile(workflowFile(file)));
  }
  hash.update(await readFile(join(root, 'package-lock.json')));
  return hash.digest('hex').slice(0, 16);
}
