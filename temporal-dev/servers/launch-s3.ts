import type { FoundBinary } from '../binaries/binary-spec.ts';
import { LOOPBACK, requirePort, type Ports } from '../machine/ports.ts';
import type { Launch } from './spawn-server.ts';
import { dataDirectory, logFile } from './stack-state.ts';

/** Of a server that only tests use. */
export const S3_CREDENTIALS = { accesskeyid: 'local-access-key', secretaccesskey: 'local-secret-access-key' } as const;

/** The command that starts the server with the interface of S3. */
export function launchS3(
  stateDir: string,
  binary: FoundBinary,
  { ports, region }: { ports: Ports; region: string },
): Launch {
  return {
    part: 's3',
    command: binary.path,
    args: [
      '--port',
      `${LOOPBACK}:${requirePort(ports, 's3')}`,
      '--region',
      region,
      '--quiet',
      'posix',
      dataDirectory(stateDir, 's3'),
    ],
    env: {
      PATH: '/usr/bin:/bin',
      ROOT_ACCESS_KEY: S3_CREDENTIALS.accesskeyid,
      ROOT_SECRET_KEY: S3_CREDENTIALS.secretaccesskey,
    },
    cwd: stateDir,
    logFile: logFile(stateDir, 's3'),
    stateDir,
  };
}

/** True when the server answers, also when it refuses a request without signature. */
export async function isS3Ready(ports: Ports): Promise<boolean> {
  return answers(`http://${LOOPBACK}:${requirePort(ports, 's3')}/`);
}

/** True when a server answers a request, whatever it answers. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return true;
  } catch {
    return false; // Not listening yet.
  }
}
