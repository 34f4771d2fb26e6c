import { readFile, rm, writeFile } from 'node:fs/promises';
import { withProgress } from '../machine/progress-report.ts';
import { StackError } from '../machine/stack-error.ts';
import { fileFromTarGz } from './unpack-archive.ts';
import { download } from './download.ts';
import type { RouteContext } from './binary-route.ts';

/** Takes the binary from the project's own release, for which a checksum is pinned. */
export async function fetchOfficialRelease(context: RouteContext): Promise<string> {
  const { spec, platform, target, variables, report, signal } = context;
  const asset = spec.official.assets[platform];
  if (asset === undefined) throw new StackError(`no official release is pinned for ${platform}`);
  const archive = `${target}.tar.gz`;
  await withProgress(report, `${spec.title} ${spec.version}: downloading the official release`, (onProgress) =>
    download(asset, archive, { variables, onProgress, signal }),
  );
  await writeFile(target, await fileFromTarGz(await readFile(archive), spec.commands[0]));
  await rm(archive);
  return 'official release';
}
