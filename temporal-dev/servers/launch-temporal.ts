import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { searchAttributes } from '#workflows/kit/search-attributes.ts';
import type { FoundBinary } from '../binaries/binary-spec.ts';
import { LOOPBACK, requirePort, type Ports } from '../machine/ports.ts';
import { goSettings } from './go-settings.ts';
import type { Profile } from './launch-postgres.ts';
import type { Launch } from './spawn-server.ts';
import { dataDirectory, logFile } from './stack-state.ts';

/** Names of the search attribute types on the command line. Every namespace created at start has all search attributes. */
const COMMAND_LINE_TYPES = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;

/** The command that starts the Temporal server with its UI. `default` and `namespaces` exist when it is ready. */
export function launchTemporal(
  stateDir: string,
  binary: FoundBinary,
  options: { ports: Ports; profile: Profile; namespaces: readonly string[]; uiCodecEndpoint?: string | undefined },
): Launch {
  const cwd = dataDirectory(stateDir, 'temporal');
  const args = ['server', 'start-dev', '--ip', LOOPBACK, '--port', String(requirePort(options.ports, 'temporal'))];
  args.push('--http-port', String(requirePort(options.ports, 'temporal-http')));
  args.push(
    '--ui-ip',
    LOOPBACK,
    '--ui-port',
    String(requirePort(options.ports, 'temporal-ui')),
    '--ui-disable-news-fetch',
  );
  args.push('--db-filename', join(cwd, 'temporal.db'));
  // With the defaults of SQLite every write waits for the disk, which allows a quarter of the workflows per second.
  args.push('--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal');
  args.push('--log-level', 'warn');
  for (const [name, type] of Object.entries(searchAttributes)) {
    args.push('--search-attribute', `${name}=${COMMAND_LINE_TYPES[type]}`);
  }
  for (const namespace of options.namespaces) args.push('--namespace', namespace);
  if (options.uiCodecEndpoint !== undefined) args.push('--ui-codec-endpoint', options.uiCodecEndpoint);
  return {
    part: 'temporal',
    command: binary.path,
    args,
    // Without HOME, it does not read the user's configuration file for other servers.
    env: { PATH: '/usr/bin:/bin', ...goSettings(options.profile) },
    cwd,
    logFile: logFile(stateDir, 'temporal'),
    stateDir,
  };
}

/** True when the `default` namespace responds. */
export async function isTemporalReady(ports: Ports): Promise<boolean> {
  return await answers(`http://${LOOPBACK}:${requirePort(ports, 'temporal-http')}/api/v1/namespaces/default`);
}

/** Waits for the UI, which starts a second after the server. A UI that does not start is not an error. */
export async function waitForTemporalUi(ports: Ports): Promise<void> {
  const url = `http://${LOOPBACK}:${requirePort(ports, 'temporal-ui')}/`;
  for (const deadline = Date.now() + 10_000; Date.now() < deadline && !(await answers(url));) await sleep(50);
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // Not listening yet.
  }
}
