import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinary } from '#temporal-dev/binaries/find-binary.ts';
import { paymentBinary } from '#temporal-dev/binaries/payment-binary.ts';
import { answers } from '#temporal-dev/servers/launch-s3.ts';
import { eventually } from '../eventually.ts';
import { searchContext } from '../object-stores.ts';
import { freePorts } from './free-ports.ts';

/** The payment provider's own server for tests: it has no state, and refuses what its published description does not know. */
export async function startStripeMock(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'core-payment-')));
  const { path } = await findBinary(
    paymentBinary,
    searchContext(folder, (line) => console.log(`stripe-mock: ${line}`)),
  );
  const [port] = await freePorts(1);
  const child = spawn(path, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const killWithTests = () => child.kill('SIGKILL');
  process.once('exit', killWithTests);
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`stripe-mock ended with ${child.exitCode}`);
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
