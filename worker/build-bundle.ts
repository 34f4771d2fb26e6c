import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { releaseWorkflows, sweepFile } from './release-workflows.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const workflowFile = (name: string) => join(root, 'workflows', name);

/**
 * The bundle of all workflow code, built when it is missing. Its name is a digest of its sources, so processes that start
 * together, and tests, share one.
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
  await mkdir(folder, { recursive: true });
  const draft = `${path}.${process.pid}`;
  const entry = `${draft}.entry.ts`;
  await writeFile(entry, entryCode());
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath: entry,
      workflowInterceptorModules: [workflowFile('kit/interceptors.ts')],
      failureConverterPath: workflowFile('kit/failure-converter.ts'),
      // The entry file may be outside the project, where packages would not be found.
      webpackConfigHook: (config) => ({
        ...config,
        resolve: { ...config.resolve, modules: [...(config.resolve?.modules ?? []), join(root, 'node_modules')] },
      }),
      // Its progress report goes to standard error; failures are thrown.
      logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    });
    await writeFile(draft, code);
  } finally {
    await rm(entry);
  }
  await rename(draft, path);
  return path;
}

/** Exports every workflow of the release under its Temporal type. */
function entryCode(): string {
  const lines = releaseWorkflows.map(({ contract: { name }, path }) =>
    path === sweepFile
      ? `export const ${name} = sweepRecords('${name}');`
      : `export { ${name} } from ${JSON.stringify(path)};`,
  );
  return [`import { sweepRecords } from ${JSON.stringify(sweepFile)};`, ...lines, ''].join('\n');
}

/** Digest of the workflow sources and of the installed packages. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(entryCode());
  const files = await readdir(workflowFile('.'), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts')).toSorted()) {
    hash.update(file).update(await readFile(workflowFile(file)));
  }
  hash.update(await readFile(join(root, 'package-lock.json')));
  return hash.digest('hex').slice(0, 16);
}
