import type { BinarySpec } from './binary-spec.ts';
import { pinnedGo } from './pinned-go.ts';

/** A certificate authority (ACME) for tests, by those who run Let's Encrypt. */
export const acmeBinary: BinarySpec = {
  name: 'acme',
  title: 'pebble',
  version: '2.10.1',
  variable: 'STACK_ACME_BIN',
  commands: ['pebble'],
  // It prints no version when it is built this way; go.sum pins the one that is built.
  versionArguments: ['-version'],
  versionPattern: 'none',
  official: { page: 'https://github.com/letsencrypt/pebble/releases/tag/v2.10.1', assets: {} },
  goModule: {
    directory: 'acme',
    package: 'github.com/letsencrypt/pebble/v2/cmd/pebble',
    oldestGo: '1.25',
    toolchain: pinnedGo,
  },
  remedy: () => 'sudo apt-get install -y python3-pip',
};
