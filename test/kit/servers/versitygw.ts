import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinary } from '#temporal-dev/binaries/find-binary.ts';
import { versitygwBinary } from '#temporal-dev/binaries/versitygw-binary.ts';
import { answers, S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { eventually } from '../eventually.ts';
import { freePorts } from './free-ports.ts';
import { searchContext, type ObjectStore } from '../object-stores.ts';

const host = '127.0.0.1';

/**
 * Starts versitygw for a test file of `npm run prove`. Unlike SeaweedFS, it refuses signatures for another region. It is built from
 * source on a machine that does not have it.
 */
export async function startVersitygw(region: string): Promise<ObjectStore> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'core-versitygw-')));
  const { path } = await findBinary(
    versitygwBinary,
    searchContext(folder, (line) => console.log(`versitygw: ${line}`)),
  );
  const data = join(folder, 'data');
  await mkdir(data);
  const [port] = await freePorts(1);
  const child = spawn(path, ['--port', `${host}:${port}`, '--region', region, '--quiet', 'posix', data], {
    env: { ROOT_ACCESS_KEY: S3_CREDENTIALS.accesskeyid, ROOT_SECRET_KEY: S3_CREDENTIALS.secretaccesskey },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const killWithTests = () => child.kill('SIGKILL');
  process.once('exit', killWithTests);
  const url = `http://${host}:${port}`;
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`versitygw ended with ${child.exitCode}`);
    return answers(url);
  });
  return {
    url,
    stop: async () => {
      process.off('exit', killWithTests);
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
