import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '#temporal-dev/stack/start-stack.ts';
import { StackError } from '#temporal-dev/machine/stack-error.ts';

/** A Redis or Valkey server for one test file. */
export interface RedisServer {
  readonly url: URL;
  stop(): Promise<void>;
}

/** @returns the server, or why there is none: then the tests that need one are skipped with it */
export async function startRedisServer(): Promise<RedisServer | string> {
  const stateDir = await realpath(await mkdtemp(join(tmpdir(), 'core-redis-')));
  const clear = () => rm(stateDir, { recursive: true, force: true });
  try {
    const stack = await startStack({
      stateDir,
      profile: 'test',
      redis: true,
      without: ['postgres', 'temporal', 'openfga'],
      report: () => {},
    });
    if (!stack.redis) throw new Error('the stack was to have Redis');
    return {
      url: new URL(stack.redis.url),
      stop: async () => {
        await stack.stop();
        await clear();
      },
    };
  } catch (error) {
    await clear();
    if (!(error instanceof StackError)) throw error;
    return `there is no Redis or Valkey here: ${error.message}`;
  }
}
