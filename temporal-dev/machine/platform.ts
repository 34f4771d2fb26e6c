import { StackError } from './stack-error.ts';

/** A platform for which the servers are available as binaries. */
export type Platform = 'linux-x64' | 'linux-arm64';

/** The platform this process runs on. Throws a StackError where no binaries exist. */
export function currentPlatform(system: string = process.platform, architecture: string = process.arch): Platform {
  const platform = `${system}-${architecture}`;
  if (platform === 'linux-x64' || platform === 'linux-arm64') return platform;
  throw new StackError(
    `the local servers are available for linux-x64 and linux-arm64, not for ${platform}: ` +
      'configure the addresses of servers that run elsewhere, or use a Linux machine, a container or WSL',
  );
}
