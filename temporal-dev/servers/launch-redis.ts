import { createConnection } from 'node:net';
import { redisBinary } from '../binaries/redis-binary.ts';
import type { FoundBinary } from '../binaries/binary-spec.ts';
import { LOOPBACK, requirePort, type Ports } from '../machine/ports.ts';
import type { Profile } from './launch-postgres.ts';
import { findProcessesIn, type ProcessIdentity } from '../machine/process-table.ts';
import type { Launch } from './spawn-server.ts';
import { dataDirectory, logFile } from './stack-state.ts';

/** The command that starts a Redis or Valkey server. */
export function launchRedis(
  stateDir: string,
  binary: FoundBinary,
  options: { ports: Ports; password: string; profile: Profile },
): Launch {
  const cwd = dataDirectory(stateDir, 'redis');
  const settings = [
    `bind ${LOOPBACK}`,
    `port ${requirePort(options.ports, 'redis')}`,
    `requirepass ${options.password}`,
    `dir ${JSON.stringify(cwd)}`,
    'save ""',
    `appendonly ${options.profile === 'test' ? 'no' : 'yes'}`,
  ];
  return {
    part: 'redis',
    command: binary.path,
    // `-` reads the configuration from standard input, so the process list does not show the password.
    args: ['-'],
    input: `${settings.join('\n')}\n`,
    env: { PATH: '/usr/bin:/bin' },
    cwd,
    logFile: logFile(stateDir, 'redis'),
    stateDir,
  };
}

/** The Redis processes of this state folder. Redis overwrites its environment with a title, so they are found by their working directory. */
export function findRedisProcesses(stateDir: string): ProcessIdentity[] {
  return findProcessesIn(dataDirectory(stateDir, 'redis'), redisBinary.commands);
}

/** The connection URL, with the password. */
export function redisUrl(ports: Ports, password: string): string {
  return `redis://:${password}@${LOOPBACK}:${requirePort(ports, 'redis')}`;
}

/** True when the server replies to PING. The reply NOAUTH (password required) is an answer as well. */
export function isRedisReady(ports: Ports): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: LOOPBACK, port: requirePort(ports, 'redis') });
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('connect', () => socket.write('PING\r\n'));
    socket.on('data', (answer) => {
      resolve(/^(\+PONG|-NOAUTH)/.test(answer.toString()));
      socket.destroy();
    });
    socket.on('error', () => {
      resolve(false);
    });
    socket.on('close', () => {
      resolve(false);
    });
  });
}
