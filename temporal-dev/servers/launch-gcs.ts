import type { FoundBinary } from '../binaries/binary-spec.ts';
import { LOOPBACK, requirePort, type Ports } from '../machine/ports.ts';
import { answers } from './launch-s3.ts';
import type { Launch } from './spawn-server.ts';
import { dataDirectory, logFile } from './stack-state.ts';

/** The command that starts the emulator of Google Cloud Storage. */
export function launchGcs(stateDir: string, binary: FoundBinary, { ports }: { ports: Ports }): Launch {
  const port = requirePort(ports, 'gcs');
  const address = `${LOOPBACK}:${port}`;
  const listening = ['-scheme', 'http', '-host', LOOPBACK, '-port', String(port), '-log-level', 'warn'];
  const addresses = ['-public-host', address, '-external-url', `http://${address}`];
  const files = ['-backend', 'filesystem', '-filesystem-root', dataDirectory(stateDir, 'gcs')];
  return {
    part: 'gcs',
    command: binary.path,
    args: [...listening, ...addresses, ...files],
    env: { PATH: '/usr/bin:/bin' },
    cwd: stateDir,
    logFile: logFile(stateDir, 'gcs'),
    stateDir,
  };
}

/** True when the emulator answers. */
export async function isGcsReady(ports: Ports): Promise<boolean> {
  return answers(`http://${LOOPBACK}:${requirePort(ports, 'gcs')}/_internal/healthcheck`);
}
