import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { S3Provider } from '#activities/clients/storage/s3-provider.ts';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { searchContext } from '../kit/object-stores.ts';
import { startSeaweed } from '../kit/seaweed.ts';
import { newS3Bucket } from '../kit/storage-providers.ts';
import { builtServersOf, lateFilesLast } from './late-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('files that need a certificate authority or object storage run last', async () => {
  const files = globSync('test/**/*.test.ts', { cwd: root }).map((file) => join(root, file));
  const late = files.filter((file) => builtServersOf(file).length > 0).map((file) => file.slice(root.length));
  for (const file of [
    'test/conformance/storage-provider.test.ts',
    'test/config/storage-leaves.test.ts',
    'test/api/http/automatic-certificate.test.ts',
  ])
    expect(late).toContain(file);
  expect(late).not.toContain('test/api/files/uploads.test.ts');
  const early = files.map((file) => file.slice(root.length)).filter((file) => !late.includes(file));
  expect(lateFilesLast(files, (file) => file).map((file) => file.slice(root.length))).toEqual([...early, ...late]);
});

test('until versitygw is built, SeaweedFS serves S3', async () => {
  const stateDir = await realpath(await mkdtemp(join(tmpdir(), 'core-seaweed-')));
  const { url, stop } = await startSeaweed(searchContext(stateDir, (line) => console.log(line)));
  try {
    const settings = { region: 'us-east-1', endpoint: url, credentials: S3_CREDENTIALS };
    const provider = new S3Provider(await newS3Bucket(url), settings);
    const parts = [randomBytes(5 * 1024 * 1024), Buffer.from('the rest')];
    const ref = await provider.beginParts('a/file', 'text/plain', 5 * 1024 * 1024);
    const tags = await Promise.all(parts.map((part, index) => provider.putPart(ref, index + 1, [part])));
    const version = await provider.finishParts(
      ref,
      parts.map(({ length: sizeBytes }, index) => ({ number: index + 1, sizeBytes, tag: tags[index] ?? '' })),
    );
    await provider.copy('a/file', 'a/copy', { ifVersion: version });
    await expect(provider.copy('a/file', 'a/other', { ifVersion: '"another"' })).rejects.toThrow(/not the one/);
    const { stream } = await provider.read('a/copy');
    expect(Buffer.concat((await stream.toArray()) as Buffer[]).equals(Buffer.concat(parts))).toBe(true);
  } finally {
    await stop();
  }
});
